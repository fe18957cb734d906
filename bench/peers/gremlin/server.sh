#!/usr/bin/env bash
# A Gremlin server to measure beside Varve, from what its project publishes on Maven Central, with
# an empty graph that has indexes on the names and ages of persons:
#
#   tinkergraph   TinkerPop's Gremlin Server with TinkerGraph, which keeps all in memory
#   janusgraph    JanusGraph Server, in memory too: over Berkeley DB it takes no ids of ours
#
#   bench/peers/gremlin/server.sh NAME start|stop|pause|resume|pid|url
#
#   GREMLIN_HEAP 4g   heap of the server
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
name=${1:?tinkergraph or janusgraph} command=${2:-}
home=${XDG_CACHE_HOME:-$HOME/.cache}/varve/$name
case $name in
  tinkergraph) port=28182 main=org.apache.tinkerpop.gremlin.server.GremlinServer ;;
  janusgraph) port=28184 main=org.janusgraph.graphdb.server.JanusGraphServer ;;
  *) echo "server.sh: $name: expected tinkergraph or janusgraph" >&2; exit 2 ;;
esac
running() { [[ -s $home/pid ]] && kill -0 "$(<"$home/pid")" 2>/dev/null; }

configure() {
  local graph manager='' plugins=''
  case $name in
    tinkergraph)
      graph='gremlin.graph=org.apache.tinkerpop.gremlin.tinkergraph.structure.TinkerGraph
gremlin.tinkergraph.vertexIdManager=ANY
gremlin.tinkergraph.edgeIdManager=LONG'
      plugins='org.apache.tinkerpop.gremlin.tinkergraph.jsr223.TinkerGraphGremlinPlugin: {},'
      cat >"$home/init.groovy" <<'G'
graph.createIndex('bname', org.apache.tinkerpop.gremlin.structure.Vertex)
def sources = [:]
sources['g'] = traversal().withEmbedded(graph)
sources
G
      ;;
    janusgraph)
      graph="gremlin.graph=org.janusgraph.core.JanusGraphFactory
storage.backend=inmemory
graph.set-vertex-id=true
graph.allow-custom-vid-types=true
cache.db-cache=true
cache.db-cache-time=0
cache.db-cache-size=0.25
schema.default=default"
      manager='graphManager: org.janusgraph.graphdb.management.JanusGraphManager'
      plugins='org.janusgraph.graphdb.tinkerpop.plugin.JanusGraphGremlinPlugin: {},'
      cat >"$home/init.groovy" <<'G'
def management = graph.openManagement()
def name = management.makePropertyKey('bname').dataType(String).make()
management.makePropertyKey('bage').dataType(Integer).make()
management.makePropertyKey('bcity').dataType(String).make()
management.makePropertyKey('bsince').dataType(Integer).make()
management.makeVertexLabel('benchp').make()
management.makeEdgeLabel('benchk').make()
management.buildIndex('byName', org.apache.tinkerpop.gremlin.structure.Vertex).addKey(name).buildCompositeIndex()
management.commit()
def sources = [:]
sources['g'] = traversal().withEmbedded(graph)
sources
G
      ;;
  esac
  printf '%s\n' "$graph" >"$home/graph.properties"
  cat >"$home/server.yaml" <<Y
host: 127.0.0.1
port: $port
evaluationTimeout: 120000
channelizer: org.apache.tinkerpop.gremlin.server.channel.HttpChannelizer
$manager
graphs: { graph: $home/graph.properties }
scriptEngines: { gremlin-groovy: { plugins: {
  $plugins
  org.apache.tinkerpop.gremlin.server.jsr223.GremlinServerGremlinPlugin: {},
  org.apache.tinkerpop.gremlin.jsr223.ScriptFileGremlinPlugin: { files: [$home/init.groovy] } } } }
serializers:
  - { className: org.apache.tinkerpop.gremlin.util.ser.GraphSONMessageSerializerV3 }
gremlinPool: 4
threadPoolWorker: 2
maxContentLength: 67108864
Y
}

start() {
  running && return
  mkdir -p "$home"
  if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then echo "server.sh: port $port is taken" >&2; exit 1; fi
  if [[ ! -s $home/classpath ]]; then
    command -v mvn >/dev/null || { echo 'server.sh: install maven' >&2; exit 1; }
    mvn -q -B -f "$here/pom.xml" -P "$name" dependency:build-classpath -Dmdep.outputFile="$home/classpath" >&2
  fi
  configure
  local opens=() package
  for package in java.lang java.lang.reflect java.util java.util.concurrent.atomic java.nio java.net java.time java.math sun.nio.ch; do
    opens+=(--add-opens "java.base/$package=ALL-UNNAMED")
  done
  cd "$home"
  nohup java "${opens[@]}" -Xms256m -Xmx"${GREMLIN_HEAP:-4g}" -cp "$(<classpath)" "$main" server.yaml >server.log 2>&1 </dev/null &
  echo $! >pid
  local waited=0
  until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
    running || { tail -30 server.log >&2; exit 1; }
    ((waited++ < 1200)) || { echo "server.sh: no answer in ten minutes: $home/server.log" >&2; exit 1; }
    sleep 0.5
  done
}

stop() {
  running || return 0
  local pid
  pid=$(<"$home/pid")
  kill -CONT "$pid"
  kill "$pid"
  for _ in $(seq 60); do kill -0 "$pid" 2>/dev/null || break; sleep 0.5; done
  kill -9 "$pid" 2>/dev/null || true
  rm -f "$home/pid"
}

case $command in
  start) start ;;
  stop) stop ;;
  pause) if running; then kill -STOP "$(<"$home/pid")"; fi ;;
  resume) if running; then kill -CONT "$(<"$home/pid")"; fi ;;
  pid) running && cat "$home/pid" ;;
  url) echo "http://127.0.0.1:$port" ;;
  *) sed -n '2,/^set /{/^set /d;s/^# \?//;p}' "$0"; exit 2 ;;
esac
