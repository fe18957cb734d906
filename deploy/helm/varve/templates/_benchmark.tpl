{{/* What the Job of a load test runs: .root is the chart, .suite says which load test. */}}
{{- define "varve.benchmark" -}}
{{- $root := .root -}}
backoffLimit: 0
template:
  metadata:
    labels:
      # Not the server's name: its Service must not lead here.
      app.kubernetes.io/name: varve-benchmark
      app.kubernetes.io/component: benchmark
      app.kubernetes.io/instance: {{ $root.Release.Name }}
  spec:
    restartPolicy: Never
    automountServiceAccountToken: false
    enableServiceLinks: false
    serviceAccountName: {{ include "varve.serviceAccount" $root }}
    {{- with $root.Values.imagePullSecrets }}
    imagePullSecrets:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    securityContext:
      {{- include "varve.podSecurityContext" $root | nindent 6 }}
    containers:
      - name: bench
        image: {{ include "varve.image" $root | quote }}
        imagePullPolicy: {{ $root.Values.image.pullPolicy }}
        workingDir: /results
        env:
          # Results are called by it, so that none takes the place of others.
          - name: POD
            valueFrom:
              fieldRef: {fieldPath: metadata.name}
        command: [varve-bench]
        args:
          - {{ .suite }}
          - --url
          - http://{{ include "varve.fullname" $root }}:{{ $root.Values.service.port }}
          # The server starts at the same time, and replays its log before it answers.
          - --wait
          - "600"
          {{- if eq .suite "metadata" }}
          - --server-name
          - {{ include "varve.omrsServer" $root | quote }}
          {{- end }}
          - --json
          - /results/$(POD).json
          {{- if and (eq .suite "metadata") $root.Values.benchmarks.resultsClaim }}
          - --evidence
          - /results/$(POD)
          {{- end }}
          {{- range (index $root.Values.benchmarks .suite).args }}
          - {{ . | quote }}
          {{- end }}
        securityContext:
          {{- include "varve.securityContext" $root | nindent 10 }}
        resources:
          {{- toYaml $root.Values.benchmarks.resources | nindent 10 }}
        volumeMounts:
          - name: results
            mountPath: /results
    volumes:
      - name: results
        {{- if $root.Values.benchmarks.resultsClaim }}
        persistentVolumeClaim:
          claimName: {{ $root.Values.benchmarks.resultsClaim }}
        {{- else }}
        emptyDir: {}
        {{- end }}
{{- end -}}
