#!/usr/bin/env bash
# An Apache Cassandra cluster of one to three nodes on this machine (127.0.0.1, .2, .3), with Cassandra's default
# settings, for development and tests. Its datacenter is called datacenter1, unless VARVE_CASSANDRA_DATACENTERS
# says otherwise.
#
#   cluster.sh start [--while PID]    start what does not run and wait until all nodes answer and see one another; with
#                                     --while, remove the cluster when that process has ended
#   cluster.sh stop [NODE]            stop all nodes, or this one (1 to 3); the data stays
#   cluster.sh clean                  stop all nodes and remove their data
#   cluster.sh kill | pause | resume NODE    SIGKILL, SIGSTOP, SIGCONT
#   cluster.sh restart NODE           start a node again on its data, SIGKILL first if it runs; waits until it answers
#   cluster.sh status                 one line for each node; exit status 0 if all answer
#   cluster.sh nodes                  what to connect to: HOST:PORT, parted by commas
#   cluster.sh can-run                whether Java and Maven are there (exit status; says what is missing)
#
# Environment: VARVE_CASSANDRA_NODES (how many; default 1), VARVE_CASSANDRA_DIR (the cluster's folder),
# VARVE_CASSANDRA_PORT (for clients; the nodes' own port is 2000 less), VARVE_CASSANDRA_HEAP (of each node),
# VARVE_CASSANDRA_JIT (fast: starts with half the CPU time; full: the whole compiler), VARVE_CASSANDRA_WAIT (seconds
# that a start may take), VARVE_CASSANDRA_EXTRA (lines that are added to each node's cassandra.yaml), JAVA_HOME,
# VARVE_CASSANDRA_DATACENTERS (the datacenter of each node, parted by commas: dc1,dc2,dc3),
# VARVE_CASSANDRA_ADDRESSES (the address of each node, parted by commas, where they are not 127.0.0.1, .2, .3),
# VARVE_CASSANDRA_NAMESPACES (the network namespace of each node, parted by commas, where it has one of its own),
# VARVE_CASSANDRA_TLS (on: clients must speak TLS; clients: and show a certificate. What they need is then in the
# cluster's folder, made with openssl and keytool: tls/ca.pem, tls/client.pem and tls/client.key).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dir=${VARVE_CASSANDRA_DIR:-${TMPDIR:-/tmp}/varve-cassandra}
port=${VARVE_CASSANDRA_PORT:-9042}
jit=${VARVE_CASSANDRA_JIT:-fast}
timeout=${VARVE_CASSANDRA_WAIT:-300}
tls=${VARVE_CASSANDRA_TLS:-}
IFS=, read -ra datacenters <<<"${VARVE_CASSANDRA_DATACENTERS:-}"
IFS=, read -ra addresses <<<"${VARVE_CASSANDRA_ADDRESSES:-127.0.0.1,127.0.0.2,127.0.0.3}"
IFS=, read -ra namespaces <<<"${VARVE_CASSANDRA_NAMESPACES:-}"
jars=${XDG_CACHE_HOME:-$HOME/.cache}/varve/cassandra-5.0.9

fail() { echo "cassandra: $*" >&2; exit 1; }

count=${VARVE_CASSANDRA_NODES:-1}
[[ ! -f $dir/nodes ]] || count=$(cat "$dir/nodes")
case $count in
  1) heap=${VARVE_CASSANDRA_HEAP:-768m} ;;
  2 | 3) heap=${VARVE_CASSANDRA_HEAP:-320m} ;;
  *) fail "a cluster has 1 to 3 nodes, not '$count'" ;;
esac
case $tls in '' | on | clients) ;; *) fail "VARVE_CASSANDRA_TLS is on or clients, not '$tls'" ;; esac
[[ -z ${VARVE_CASSANDRA_NODES:-} || $VARVE_CASSANDRA_NODES == "$count" ]] ||
  fail "$dir has a cluster of $count; 'clean' removes it"

java=java
[[ -z ${JAVA_HOME:-} ]] || java=$JAVA_HOME/bin/java

missing() { # prints what cannot be found
  local version
  version=$("$java" -XshowSettings:properties -version 2>&1 | awk '$1 == "java.specification.version" { print $3 }') || true
  case $version in
    11 | 17) ;;
    '') echo 'no Java; Cassandra 5 runs on 11 and 17' ;;
    *) echo "Java is $version, but Cassandra 5 runs on 11 and 17 (JAVA_HOME says which one is taken)" ;;
  esac
  if [[ -n $tls ]] && ! { command -v openssl && command -v "${java%java}keytool"; } >/dev/null; then
    echo 'no openssl or no keytool to make certificates with'
  fi
  [[ -f $jars/complete ]] || command -v mvn >/dev/null || echo 'no Maven (mvn) to fetch Cassandra with'
}

fetch() { # the jars, once for this machine
  mkdir -p "$jars"
  exec 7>"$jars/lock"
  flock 7
  if [[ ! -f $jars/complete ]]; then
    echo 'cassandra: fetching its jars with Maven, once'
    mvn -q -B -f "$here/pom.xml" dependency:copy-dependencies -DincludeScope=runtime \
      -DoutputDirectory="$jars/lib" >"$jars/maven.log" 2>&1 7>&- ||
      { tail -n 15 "$jars/maven.log" >&2; fail "Maven failed, see $jars/maven.log"; }
    touch "$jars/complete"
  fi
  exec 7>&-
}

home() { echo "$dir/$1"; }
address() { echo "${addresses[$1 - 1]}"; }
all() { seq 1 "$count"; }

process() { # the pid of a node while it runs
  local pid
  pid=$(cat "$(home "$1")/pid" 2>/dev/null) || return 0
  if grep -qzxF -- "-Dvarve.folder=$(home "$1")" "/proc/$pid/cmdline" 2>/dev/null; then echo "$pid"; fi
}

paused() { grep -q '^State:[[:space:]]*T' "/proc/$1/status" 2>/dev/null; }
answers() { (: <>"/dev/tcp/$(address "$1")/$port") 2>/dev/null; }

certificates() { # an authority, and what it signs for the nodes and for a client; once for a cluster
  local at=$dir/tls of
  [[ -n $tls && ! -f $at/trusted.p12 ]] || return 0
  mkdir -p "$at"
  {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -subj '/CN=varve development' \
      -keyout "$at/ca.key" -out "$at/ca.pem"
    printf 'subjectAltName=IP:127.0.0.1,IP:127.0.0.2,IP:127.0.0.3\nextendedKeyUsage=serverAuth\n' >"$at/node.extensions"
    printf 'extendedKeyUsage=clientAuth\n' >"$at/client.extensions"
    for of in node client; do
      openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=$of" \
        -keyout "$at/$of.key" -out "$at/$of.request"
      openssl x509 -req -in "$at/$of.request" -CA "$at/ca.pem" -CAkey "$at/ca.key" -CAcreateserial -days 3650 \
        -extfile "$at/$of.extensions" -out "$at/$of.pem"
    done
    openssl pkcs12 -export -in "$at/node.pem" -inkey "$at/node.key" -passout pass:varvevarve -out "$at/node.p12"
    "${java%java}keytool" -importcert -noprompt -alias ca -file "$at/ca.pem" -storetype PKCS12 -storepass varvevarve \
      -keystore "$at/trusted.p12"
  } >"$at/log" 2>&1 || { cat "$at/log" >&2; fail 'no certificates could be made'; }
}

encryption() { # what a node's configuration says of it
  [[ -n $tls ]] || return 0
  echo "client_encryption_options: {enabled: true, optional: false, keystore: $dir/tls/node.p12, keystore_password: varvevarve," \
    "store_type: PKCS12, require_client_auth: $([[ $tls == clients ]] && echo true || echo false)," \
    "truststore: $dir/tls/trusted.p12, truststore_password: varvevarve}"
}

configure() { # a node: only what has no default, or is too large for a machine with other work
  local home seeds='' other
  home=$(home "$1")
  mkdir -p "$home/conf" "$home/log"
  for other in $(all); do seeds+=${seeds:+,}$(address "$other"):$((port - 2000)); done
  cat >"$home/conf/cassandra.yaml" <<YAML
cluster_name: varve development
num_tokens: 1
initial_token: $(token "$1")
auto_bootstrap: false
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
endpoint_snitch: $( ((${#datacenters[@]})) && echo GossipingPropertyFileSnitch || echo SimpleSnitch)
seed_provider: [{class_name: org.apache.cassandra.locator.SimpleSeedProvider, parameters: [{seeds: "$seeds"}]}]
listen_address: $(address "$1")
storage_port: $((port - 2000))
rpc_address: $(address "$1")
native_transport_port: $port
data_file_directories: [$home/data]
commitlog_directory: $home/commitlog
hints_directory: $home/hints
saved_caches_directory: $home/caches
cdc_raw_directory: $home/cdc
commitlog_sync: periodic
commitlog_sync_period: 10000ms
commitlog_total_space: 512MiB
auto_snapshot: false
concurrent_compactors: 1
memtable_heap_space: $((count == 1 ? 128 : 48))MiB
memtable_offheap_space: $((count == 1 ? 128 : 48))MiB
file_cache_size: 64MiB
# A machine that does other work beside is slow at times.
read_request_timeout: 8000ms
range_request_timeout: 10000ms
write_request_timeout: 8000ms
cas_contention_timeout: 4000ms
$(encryption)
${VARVE_CASSANDRA_EXTRA:-}
YAML
  if ((${#datacenters[@]})); then
    printf 'dc=%s\nrack=rack1\n' "${datacenters[$1 - 1]}" >"$home/conf/cassandra-rackdc.properties"
  fi
  cat >"$home/conf/logback.xml" <<XML
<configuration>
  <appender name="log" class="ch.qos.logback.core.FileAppender">
    <file>$home/log/node.log</file>
    <encoder><pattern>%date{ISO8601} %level %thread: %msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="log"/></root>
</configuration>
XML
}

token() { # of a node: all have the same share
  case $count-$1 in
    2-2) echo 0 ;;
    3-2) echo -3074457345618258603 ;;
    3-3) echo 3074457345618258602 ;;
    *) echo -9223372036854775808 ;;
  esac
}

# The inner parts of Java that Cassandra reaches into.
exported=(java.base/jdk.internal.misc java.base/jdk.internal.ref java.base/java.lang.ref java.base/sun.nio.ch
  java.management.rmi/com.sun.jmx.remote.internal.rmi java.rmi/sun.rmi.registry java.rmi/sun.rmi.server
  java.rmi/sun.rmi.transport.tcp java.sql/java.sql jdk.unsupported/sun.misc)
opened=(java.base/java.io java.base/java.lang java.base/java.lang.module java.base/java.net java.base/java.nio
  java.base/java.util java.base/java.util.concurrent java.base/java.util.concurrent.atomic
  java.base/jdk.internal.loader java.base/jdk.internal.math java.base/jdk.internal.module
  java.base/jdk.internal.ref java.base/jdk.internal.reflect java.base/sun.nio.ch
  jdk.management/com.sun.management.internal)

launch() { # a node
  local home options=() part meter within=()
  home=$(home "$1")
  if ((${#namespaces[@]})); then within=(ip netns exec "${namespaces[$1 - 1]}"); fi
  for part in "${exported[@]}"; do options+=("--add-exports=$part=ALL-UNNAMED"); done
  for part in "${opened[@]}"; do options+=("--add-opens=$part=ALL-UNNAMED"); done
  if [[ $jit == fast ]]; then options+=(-XX:TieredStopAtLevel=1); fi
  # Whoever has one node and throws it away needs not have each new table on its disk at once.
  if [[ -n $thrown_away && $count == 1 ]]; then options+=(-Dcassandra.test.flush_local_schema_changes=false); fi
  if ((count == 1)); then options+=(-Xms256m -XX:+UseG1GC); else options+=(-Xms128m -XX:+UseSerialGC); fi
  meter=$(echo "$jars"/lib/jamm-*.jar)
  # Nodes that are near one another need not wait long to be heard of.
  setsid nohup "${within[@]}" "$java" "-Dvarve.folder=$home" "-Xmx$heap" -Xss256k -XX:+ExitOnOutOfMemoryError \
    "-javaagent:$meter" "${options[@]}" -Djdk.attach.allowAttachSelf=true -Djava.net.preferIPv4Stack=true \
    "-Djava.io.tmpdir=$home" "-Dcassandra.config=file://$home/conf/cassandra.yaml" "-Dcassandra.storagedir=$home" \
    "-Dcassandra-rackdc.properties=file://$home/conf/cassandra-rackdc.properties" \
    "-Dlogback.configurationFile=$home/conf/logback.xml" "-Dcassandra.logdir=$home/log" -Dcassandra-foreground=yes \
    -Dcassandra.ring_delay_ms=100 -Dcassandra.skip_wait_for_gossip_to_settle=0 -Dcassandra.superuser_setup_delay_ms=0 \
    -Dcassandra.shutdown_announce_in_ms=0 \
    -cp "$jars/lib/*" org.apache.cassandra.service.CassandraDaemon >"$home/log/console" 2>&1 </dev/null 8>&- &
  echo $! >"$home/pid"
  # Until Java is there, the process does not look like a node.
  for _ in {1..100}; do
    if [[ -n $(process "$1") ]] || ! kill -0 "$(cat "$home/pid")" 2>/dev/null; then break; fi
    sleep 0.1
  done
}

begin() { # launches a node that does not run
  if answers "$1"; then
    fail "something else answers on $(address "$1"):$port; VARVE_CASSANDRA_PORT takes another port"
  fi
  configure "$1"
  # What is waited for is told after this start.
  rm -f "$(home "$1")/log/node.log"
  launch "$1"
}

await() { # a node's answer, until then
  until answers "$1"; do
    if [[ -z $(process "$1") ]] || ((SECONDS > $2)); then
      grep -hE -A 3 'ERROR|Exception|Error' "$(home "$1")/log/node.log" "$(home "$1")/log/console" | head -n 40 >&2 || true
      fail "node $1 did not start, see $(home "$1")/log"
    fi
    sleep 0.3
  done
}

sees() { # whether a node has heard of another since it was started
  grep -qE "$(address "$2")(:[0-9]+)? is now UP|$(address "$2")(:[0-9]+)? state jump to NORMAL" "$(home "$1")/log/node.log"
}

start() {
  local lacks until begun=$SECONDS one other
  lacks=$(missing)
  [[ -z $lacks ]] || fail "$lacks"
  fetch
  mkdir -p "$dir"
  exec 8>"$dir/lock"
  flock 8
  echo "$count" >"$dir/nodes"
  if [[ -n $thrown_away ]]; then watch "$thrown_away"; fi
  certificates
  until=$((SECONDS + timeout))
  # The first node of a new cluster makes the system's keyspaces; the others then start together.
  for one in $(all); do
    if [[ -z $(process "$one") ]]; then begin "$one"; fi
    if ((one == 1)); then await 1 "$until"; fi
  done
  for one in $(all); do await "$one" "$until"; done
  for one in $(all); do
    for other in $(all); do
      until [[ $one == "$other" ]] || sees "$one" "$other"; do
        ((SECONDS < until)) || fail "node $one does not see node $other, see $(home "$one")/log"
        sleep 0.3
      done
    done
  done
  echo "cassandra: answers on $(nodes) ($((SECONDS - begun)) s)"
}

nodes() {
  local list='' one
  for one in $(all); do list+=${list:+,}$(address "$one"):$port; done
  echo "$list"
}

watch() { # removes the cluster when a process has ended
  (
    exec 8>&-
    while kill -0 "$1" 2>/dev/null; do sleep 1; done
    VARVE_CASSANDRA_DIR=$dir "$here/cluster.sh" clean
  ) >/dev/null 2>&1 </dev/null &
  disown
}

end() { # a node, with this signal
  local pid waited=0
  pid=$(process "$1")
  [[ -n $pid ]] || return 0
  # A stopped process dies of SIGKILL, and would go on for a moment if it were woken first.
  if [[ $2 != KILL ]]; then kill -CONT "$pid" 2>/dev/null || true; fi
  kill "-$2" "$pid" 2>/dev/null || true
  while [[ -n $(process "$1") ]]; do
    sleep 0.1
    waited=$((waited + 1))
    if ((waited == 300)); then kill -KILL "$pid" 2>/dev/null || true; fi
    if ((waited > 400)); then fail "process $pid does not end"; fi
  done
}

end_all() { # with this signal, at once
  local one
  for one in $(all); do end "$one" "$1" & done
  wait
}

clean() {
  end_all KILL
  if [[ -f $dir/nodes ]]; then rm -rf -- "$dir"; fi
}

restart() {
  end "$1" KILL
  begin "$1"
  await "$1" $((SECONDS + timeout))
}

status() {
  local one pid all_answer=0
  for one in $(all); do
    pid=$(process "$one")
    if [[ -z $pid ]]; then
      echo "node $one: not running"
    elif paused "$pid"; then
      echo "node $one: process $pid is paused"
    elif answers "$one"; then
      echo "node $one: process $pid answers on $(address "$one"):$port, data in $(home "$one")"
      continue
    else
      echo "node $one: process $pid does not answer yet"
    fi
    all_answer=1
  done
  return $all_answer
}

node() { [[ ${1:-} =~ ^[1-3]$ && $1 -le $count ]] || fail "which node? 1 to $count"; }

signal() {
  local pid
  node "${2:-}"
  pid=$(process "$2")
  [[ -n $pid ]] || fail "node $2 does not run"
  kill "-$1" "$pid"
}

thrown_away=''
case ${1:-} in
  start)
    [[ ${2:-} != --while ]] || thrown_away=${3:?--while PID}
    start
    ;;
  stop) if [[ -n ${2:-} ]]; then node "$2"; end "$2" TERM; else end_all TERM; fi ;;
  kill) node "${2:-}"; end "$2" KILL ;;
  restart) node "${2:-}"; restart "$2" ;;
  pause) signal STOP "${2:-}" ;;
  resume) signal CONT "${2:-}" ;;
  clean) clean ;;
  status) status ;;
  nodes) nodes ;;
  can-run) lacks=$(missing); [[ -z $lacks ]] || { echo "$lacks"; exit 1; } ;;
  *) sed -n '2,26s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2 ;;
esac
