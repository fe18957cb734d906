#!/usr/bin/env bash
# A real Apache HugeGraph server with its RocksDB back end, from what its project publishes on Maven Central, to measure
# beside Varve. Nothing is compiled, and no configuration is kept here: it comes out of the published distribution jar.
#
#   bench/peers/hugegraph/hugegraph.sh start     resolve, configure, start, wait for the first answer
#   bench/peers/hugegraph/hugegraph.sh stop      stop it; its data stays
#   bench/peers/hugegraph/hugegraph.sh pause     take its CPU away (SIGSTOP); `resume` gives it back
#   bench/peers/hugegraph/hugegraph.sh pid       its process id
#   bench/peers/hugegraph/hugegraph.sh clean     stop it and remove data, configuration and logs
#
# From the environment:
#   HUGEGRAPH_PORT     28080   REST; Gremlin is served on the next port
#   HUGEGRAPH_WORKERS  300     worker threads. The server's own default is twice the processors, and it answers 503
#                              "too busy" to every request beyond: on two processors to the fourth in flight
#   HUGEGRAPH_HEAP     4g      heap, at start and at most
#   HUGEGRAPH_HOME     configuration, data and logs (default: ~/.cache/varve/hugegraph-<version>)
#   HUGEGRAPH_VERSION  1.5.0   the version that runs from its published artefacts with the corrections in pom.xml
# Needs Java 11 or 17, Maven, curl and unzip; as root on Debian or Ubuntu what is missing is installed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
version=${HUGEGRAPH_VERSION:-1.5.0}
port=${HUGEGRAPH_PORT:-28080}
home=${HUGEGRAPH_HOME:-${XDG_CACHE_HOME:-$HOME/.cache}/varve/hugegraph-$version}
heap=${HUGEGRAPH_HEAP:-4g}
say() { printf 'hugegraph: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

need() { # command, Debian package
  command -v "$1" >/dev/null && return
  if command -v apt-get >/dev/null && [[ $(id -u) -eq 0 ]]; then
    say "installing $2"
    apt-get update -q >&2
    DEBIAN_FRONTEND=noninteractive apt-get install -yq --no-install-recommends "$2" >&2
  else
    die "$1 is missing: install $2 (or your system's package of it)"
  fi
}

running() { [[ -s $home/pid ]] && kill -0 "$(<"$home/pid")" 2>/dev/null; }

# The class path in HugeGraph's own order: the logging binding, its own jars, the rest.
resolve() {
  [[ -s $home/classpath ]] && return
  need mvn maven
  say "resolving HugeGraph $version with Maven (about three minutes the first time)"
  mvn -q -B -f "$here/pom.xml" -Dhugegraph.version="$version" \
    dependency:build-classpath -Dmdep.outputFile="$home/resolved" >&2
  tr ':' '\n' <"$home/resolved" | awk '
    /log4j-slf4j-impl/ { first = first $0 ":"; next }
    /\/org\/apache\/hugegraph\// { own = own $0 ":"; next }
    { rest = rest $0 ":" }
    END { printf "%s%s%s", first, own, substr(rest, 1, length(rest) - 1) }' >"$home/classpath"
  rm "$home/resolved"
}

# Sets a key of a properties file, whether it is there, commented out or missing.
property() { # file key value
  sed -i "/^#\?$2=/d" "$1"
  printf '%s=%s\n' "$2" "$3" >>"$1"
}

configure() {
  if [[ ! -d $home/conf ]]; then
    need unzip unzip
    local jar
    jar=$(tr ':' '\n' <"$home/classpath" | grep "/hugegraph-dist-$version\.jar$")
    unzip -q -o "$jar" 'conf/*' 'scripts/*' -d "$home"
  fi
  local rest=$home/conf/rest-server.properties graph=$home/conf/graphs/hugegraph.properties
  property "$rest" restserver.url "http://127.0.0.1:$port"
  property "$rest" gremlinserver.url "http://127.0.0.1:$((port + 1))"
  property "$rest" restserver.max_worker_threads "${HUGEGRAPH_WORKERS:-300}"
  property "$graph" backend rocksdb
  property "$graph" serializer binary
  sed -i '/^host:/d;/^port:/d' "$home/conf/gremlin-server.yaml"
  printf 'host: 127.0.0.1\nport: %s\n' "$((port + 1))" >>"$home/conf/gremlin-server.yaml"
}

start() {
  running && { say "runs already, process $(<"$home/pid")"; return; }
  need java openjdk-17-jre-headless
  need curl curl
  mkdir -p "$home/logs" "$home/plugins"
  if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then die "port $port is taken"; fi
  resolve
  configure
  cd "$home"
  local classpath
  classpath=$(<classpath)
  if [[ ! -f store-made ]]; then
    say 'making its store'
    java --add-exports=java.base/jdk.internal.reflect=ALL-UNNAMED -cp "$classpath" \
      org.apache.hugegraph.cmd.InitStore conf/rest-server.properties >logs/init-store.out 2>&1 </dev/null ||
      { tail -30 logs/init-store.out >&2; die 'making the store failed'; }
    touch store-made
  fi
  # What its own start script gives to Java.
  nohup java -server -Xms"$heap" -Xmx"$heap" -XX:+ParallelRefProcEnabled -XX:InitiatingHeapOccupancyPercent=50 \
    -XX:G1RSetUpdatingPauseTimePercent=5 --add-modules=jdk.unsupported \
    --add-exports=java.base/jdk.internal.reflect=ALL-UNNAMED --add-exports=java.base/sun.nio.ch=ALL-UNNAMED \
    -Dlog4j.configurationFile=conf/log4j2.xml \
    -Djava.security.manager=org.apache.hugegraph.security.HugeSecurityManager \
    -cp "$classpath" org.apache.hugegraph.dist.HugeGraphServer \
    conf/gremlin-server.yaml conf/rest-server.properties >logs/server.out 2>&1 </dev/null &
  echo $! >pid
  local waited=0
  until curl -fsS -m 5 -o /dev/null "http://127.0.0.1:$port/versions" 2>/dev/null; do
    running || { tail -30 logs/server.out >&2; die 'it died while starting'; }
    ((waited++ < 600)) || die "no answer after five minutes; its logs: $home/logs"
    sleep 0.5
  done
  say "HugeGraph $version answers on http://127.0.0.1:$port, process $(<pid)"
}

stop() {
  running || { rm -f "$home/pid"; return; }
  local pid waited=0
  pid=$(<"$home/pid")
  kill -CONT "$pid"
  kill "$pid"
  while kill -0 "$pid" 2>/dev/null; do
    ((waited++ < 60)) || { kill -9 "$pid"; break; }
    sleep 0.5
  done
  rm -f "$home/pid"
}

case ${1:-} in
  start) start ;;
  stop) stop ;;
  pause) running && kill -STOP "$(<"$home/pid")" ;;
  resume) running && kill -CONT "$(<"$home/pid")" ;;
  pid) running && cat "$home/pid" ;;
  # The resolved class path stays.
  clean) stop; [[ ! -d $home ]] || find "$home" -mindepth 1 -maxdepth 1 ! -name classpath -exec rm -rf -- {} + ;;
  *) sed -n '2,/^set /{/^set /d;s/^# \?//;p}' "$0"; exit 2 ;;
esac
