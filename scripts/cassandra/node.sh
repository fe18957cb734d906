#!/usr/bin/env bash
# One Apache Cassandra node on this machine, with Cassandra's default settings, for development and tests.
#
#   node.sh start [--while PID]   start it and wait until it answers; with --while, remove it when that process has ended
#   node.sh stop                  stop it; its data stays
#   node.sh clean                 stop it and remove its data
#   node.sh kill | pause | resume SIGKILL, SIGSTOP, SIGCONT
#   node.sh status                whether it answers (exit status), and what it is
#   node.sh can-run               whether Java and Maven are there (exit status; says what is missing)
#
# Environment: VARVE_CASSANDRA_DIR (its folder), VARVE_CASSANDRA_PORT (for clients; its own port is 2000 less),
# VARVE_CASSANDRA_HEAP, VARVE_CASSANDRA_JIT (fast: starts with half the CPU time; full: the whole compiler),
# VARVE_CASSANDRA_WAIT (seconds that a start may take), JAVA_HOME.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
home=${VARVE_CASSANDRA_DIR:-${TMPDIR:-/tmp}/varve-cassandra-node}
port=${VARVE_CASSANDRA_PORT:-9042}
heap=${VARVE_CASSANDRA_HEAP:-768m}
jit=${VARVE_CASSANDRA_JIT:-fast}
patience=${VARVE_CASSANDRA_WAIT:-300}
jars=${XDG_CACHE_HOME:-$HOME/.cache}/varve/cassandra-5.0.9
address=127.0.0.1

fail() { echo "cassandra: $*" >&2; exit 1; }

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

process() { # its pid while it runs
  local pid
  pid=$(cat "$home/pid" 2>/dev/null) || return 0
  if grep -qzxF -- "-Dvarve.folder=$home" "/proc/$pid/cmdline" 2>/dev/null; then echo "$pid"; fi
}

answers() { (: <>"/dev/tcp/$address/$port") 2>/dev/null; }

configure() { # only what has no default, or is too large for a machine with other work
  mkdir -p "$home/conf" "$home/log"
  cat >"$home/conf/cassandra.yaml" <<YAML
cluster_name: varve development
num_tokens: 1
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
endpoint_snitch: SimpleSnitch
seed_provider: [{class_name: org.apache.cassandra.locator.SimpleSeedProvider, parameters: [{seeds: "$address:$((port - 2000))"}]}]
listen_address: $address
storage_port: $((port - 2000))
rpc_address: $address
native_transport_port: $port
data_file_directories: [$home/data]
commitlog_directory: $home/commitlog
hints_directory: $home/hints
saved_caches_directory: $home/caches
cdc_raw_directory: $home/cdc
commitlog_sync: periodic
commitlog_sync_period: 10000ms
auto_snapshot: false
concurrent_compactors: 1
memtable_heap_space: 128MiB
memtable_offheap_space: 128MiB
file_cache_size: 64MiB
# A machine that does other work beside is slow at times.
read_request_timeout: 8000ms
range_request_timeout: 10000ms
write_request_timeout: 8000ms
cas_contention_timeout: 4000ms
YAML
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

# The inner parts of Java that Cassandra reaches into.
exported=(java.base/jdk.internal.misc java.base/jdk.internal.ref java.base/java.lang.ref java.base/sun.nio.ch
  java.management.rmi/com.sun.jmx.remote.internal.rmi java.rmi/sun.rmi.registry java.rmi/sun.rmi.server
  java.rmi/sun.rmi.transport.tcp java.sql/java.sql jdk.unsupported/sun.misc)
opened=(java.base/java.io java.base/java.lang java.base/java.lang.module java.base/java.net java.base/java.nio
  java.base/java.util java.base/java.util.concurrent java.base/java.util.concurrent.atomic
  java.base/jdk.internal.loader java.base/jdk.internal.math java.base/jdk.internal.module
  java.base/jdk.internal.ref java.base/jdk.internal.reflect java.base/sun.nio.ch
  jdk.management/com.sun.management.internal)

launch() {
  local options=() part meter
  for part in "${exported[@]}"; do options+=("--add-exports=$part=ALL-UNNAMED"); done
  for part in "${opened[@]}"; do options+=("--add-opens=$part=ALL-UNNAMED"); done
  if [[ $jit == fast ]]; then options+=(-XX:TieredStopAtLevel=1); fi
  meter=$(echo "$jars"/lib/jamm-*.jar)
  # A node that is alone needs not wait for others to be heard of, and one that is thrown away need not have each new
  # table on its disk at once.
  setsid nohup "$java" "-Dvarve.folder=$home" "-Xmx$heap" -Xms256m -Xss256k -XX:+UseG1GC -XX:+ExitOnOutOfMemoryError \
    "-javaagent:$meter" "${options[@]}" -Djdk.attach.allowAttachSelf=true -Djava.net.preferIPv4Stack=true \
    "-Djava.io.tmpdir=$home" "-Dcassandra.config=file://$home/conf/cassandra.yaml" "-Dcassandra.storagedir=$home" \
    "-Dlogback.configurationFile=$home/conf/logback.xml" "-Dcassandra.logdir=$home/log" -Dcassandra-foreground=yes \
    -Dcassandra.ring_delay_ms=100 -Dcassandra.skip_wait_for_gossip_to_settle=0 -Dcassandra.superuser_setup_delay_ms=0 \
    -Dcassandra.test.flush_local_schema_changes=false \
    -cp "$jars/lib/*" org.apache.cassandra.service.CassandraDaemon >"$home/log/console" 2>&1 </dev/null 8>&- &
  echo $! >"$home/pid"
}

start() {
  local lacks until begun=$SECONDS
  lacks=$(missing)
  [[ -z $lacks ]] || fail "$lacks"
  fetch
  mkdir -p "$home"
  exec 8>"$home/lock"
  flock 8
  if [[ -z $(process) ]]; then
    if answers; then fail "something else answers on $address:$port; VARVE_CASSANDRA_PORT takes another port"; fi
    configure
    launch
  fi
  until=$((SECONDS + patience))
  until answers; do
    if [[ -z $(process) ]] || ((SECONDS > until)); then
      grep -hE 'ERROR|Exception' "$home/log/node.log" "$home/log/console" | head -n 10 >&2 || true
      fail "it did not start, see $home/log"
    fi
    sleep 0.3
  done
  if [[ ${1:-} == --while ]]; then watch "$2"; fi
  echo "cassandra: answers on $address:$port ($((SECONDS - begun)) s)"
}

watch() { # removes the node when a process has ended
  (
    exec 8>&-
    while kill -0 "$1" 2>/dev/null; do sleep 1; done
    "$here/node.sh" clean
  ) >/dev/null 2>&1 </dev/null &
  disown
}

end() { # with this signal
  local pid waited=0
  pid=$(process)
  [[ -n $pid ]] || return 0
  kill -CONT "$pid" 2>/dev/null || true
  kill "-$1" "$pid" 2>/dev/null || true
  while [[ -n $(process) ]]; do
    sleep 0.1
    waited=$((waited + 1))
    if ((waited == 300)); then kill -KILL "$pid" 2>/dev/null || true; fi
    if ((waited > 400)); then fail "process $pid does not end"; fi
  done
}

clean() {
  end KILL
  if [[ -f $home/conf/cassandra.yaml ]]; then rm -rf -- "$home"; fi
}

signal() { local pid; pid=$(process); [[ -n $pid ]] || fail 'it does not run'; kill "-$1" "$pid"; }

case ${1:-} in
  start) shift; start "$@" ;;
  stop) end TERM ;;
  kill) end KILL ;;
  clean) clean ;;
  pause) signal STOP ;;
  resume) signal CONT ;;
  can-run) lacks=$(missing); [[ -z $lacks ]] || { echo "$lacks"; exit 1; } ;;
  status)
    answers || { echo "nothing answers on $address:$port"; exit 1; }
    pid=$(process)
    echo "answers on $address:$port${pid:+, process $pid}, data in $home"
    ;;
  *) sed -n '2,14s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2 ;;
esac
