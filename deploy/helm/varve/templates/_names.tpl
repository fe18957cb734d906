{{/* The name of the release's objects: at most 52 characters, so that what a controller appends still fits. */}}
{{- define "varve.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* What tells the pods of this release's server from all others; never changes in the life of a release. */}}
{{- define "varve.selector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "varve.labels" -}}
{{ include "varve.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "varve.image" -}}
{{ printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end -}}

{{- define "varve.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{ default (include "varve.fullname" .) .Values.serviceAccount.name }}
{{- else -}}
{{ default "default" .Values.serviceAccount.name }}
{{- end -}}
{{- end -}}

{{/* No root, no privileges, nothing written outside the volumes. */}}
{{- define "varve.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "varve.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{/* "true" when the server is an open-metadata repository too, else nothing. */}}
{{- define "varve.omrs" -}}
{{- if (default dict .Values.config.omrs).enabled -}}true{{- end -}}
{{- end -}}

{{/* The name of the open-metadata repository in its paths. */}}
{{- define "varve.omrsServer" -}}
{{- first (default (list "varve") (default dict .Values.config.omrs).server_names) -}}
{{- end -}}

{{/* The names inside the cluster of the Service and of the pod, one a line. */}}
{{- define "varve.publicNames" -}}
{{- $service := include "varve.fullname" . -}}
{{- $namespace := .Release.Namespace -}}
{{- range $name := list $service (printf "%s-0.%s-pods" $service $service) }}
{{ $name }}
{{ printf "%s.%s" $name $namespace }}
{{ printf "%s.%s.svc" $name $namespace }}
{{ printf "%s.%s.svc.cluster.local" $name $namespace }}
{{- end }}
{{- end -}}

{{/* The options that the server gets, as TOML. What instances tell as their address is the Service's, not that of a pod. */}}
{{- define "varve.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- if and (include "varve.omrs" .) (not $config.omrs.base_url) -}}
{{- $address := printf "http://%s:%d" (include "varve.fullname" .) (int .Values.service.port) -}}
{{- $_ := set $config.omrs "base_url" (printf "%s/servers/%s" $address (include "varve.omrsServer" .)) -}}
{{- end -}}
{{- $server := default dict $config.server -}}
{{- $names := include "varve.publicNames" . | trim | splitList "\n" -}}
{{- $_ := set $server "public_names" (concat $names (default list $server.public_names)) -}}
{{- $_ := set $config "server" $server -}}
{{- include "varve.toml" $config -}}
{{- end -}}

{{/* The options as TOML: strings, numbers, booleans and lists of them. */}}
{{- define "varve.toml" -}}
{{- range $section, $options := . }}
{{- if $options }}
[{{ $section }}]
{{- range $option, $value := $options }}
{{- if and (eq $section "server") (has $option (list "host" "port" "admin_listen")) }}
{{- fail (printf "config.server.%s is set by the chart; service.port is the port that clients see" $option) }}
{{- end }}
{{- if and (eq $section "storage") (eq $option "data_dir") }}
{{- fail "config.storage.data_dir is set by the chart; persistence says which volume it is" }}
{{- end }}
{{- if kindIs "map" $value }}
{{- fail (printf "config.%s.%s must be one value or a list" $section $option) }}
{{- end }}
{{- if kindIs "float64" $value }}
{{ $option }} = {{ if eq (floor $value) $value }}{{ int64 $value }}{{ else }}{{ $value }}{{ end }}
{{- else }}
{{ $option }} = {{ $value | toJson }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}
