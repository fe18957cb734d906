#!/usr/bin/env bash
# Runs a scenario of api.jmx with the real JMeter, without its window, and prints the Aggregate Report's columns.
#
#   bench/jmeter/run.sh SCENARIO [-Jname=value ...]      e.g. vertex_by_id -Jport=8080 -Jusers=300
#
# The head of api.jmx (TestPlan.comments) lists the names. Further settings, from the environment:
#   JMETER_VERSION 5.6.3   JMETER_XMX 2g   JMETER_OUT (folder for the log, the samples and the table; default: a new one)
# JMeter comes from Maven Central at the first run and stays in ~/.cache/varve. Needs a JDK or JRE of 11 or newer and
# Maven; as root on Debian or Ubuntu they are installed when they are missing.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
version=${JMETER_VERSION:-5.6.3}
home=${XDG_CACHE_HOME:-$HOME/.cache}/varve/jmeter-$version
say() { printf 'jmeter: %s\n' "$*" >&2; }

need() { # command, Debian package
  command -v "$1" >/dev/null && return
  if command -v apt-get >/dev/null && [[ $(id -u) -eq 0 ]]; then
    say "installing $2"
    apt-get update -q >&2
    DEBIAN_FRONTEND=noninteractive apt-get install -yq --no-install-recommends "$2" >&2
  else
    say "$1 is missing: install $2 (or your system's package of it)"
    exit 1
  fi
}
need java default-jre-headless

if [[ ! -f $home/complete ]]; then
  need mvn maven
  need unzip unzip
  say "fetching JMeter $version with Maven"
  # The layout of JMeter's own distribution: the launcher in bin, its components in lib/ext, the rest in lib.
  mkdir -p "$home/bin" "$home/lib/ext"
  mvn -q -B -f "$here/pom.xml" -Djmeter.version="$version" \
    dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$home/lib" >&2
  mv "$home/lib/ApacheJMeter-$version.jar" "$home/bin/ApacheJMeter.jar"
  unzip -q -o "$home/lib/ApacheJMeter_config-$version.jar" 'bin/*' -d "$home"
  rm "$home/lib/ApacheJMeter_config-$version.jar"
  mv "$home"/lib/ApacheJMeter_*.jar "$home/lib/ext/"
  touch "$home/complete"
fi

if (($# == 0)); then
  sed -n '2,/^set /{/^set /d;s/^# \?//;p}' "$0"
  exit 2
fi
scenario=$1
shift
out=${JMETER_OUT:-$(mktemp -d)}
mkdir -p "$out"
rm -f "$out/table.csv" "$out/samples.csv"
# A connection a user, kept: JMeter would else look whether an idle one is still open before each request.
java -Xms512m -Xmx"${JMETER_XMX:-2g}" -Xss256k -XX:+UseG1GC -XX:MaxGCPauseMillis=50 \
  -Djava.awt.headless=true -jar "$home/bin/ApacheJMeter.jar" \
  -n -t "$here/api.jmx" -l "$out/samples.csv" -j "$out/jmeter.log" \
  -Jscenario="$scenario" -Jaggregate="$out/table.csv" \
  -Jjmeter.save.saveservice.output_format=csv -Jsummariser.interval=60 \
  -Jhttpclient4.validate_after_inactivity=60000 -Jhttpclient4.idletimeout=60000 -Jhttpclient4.retrycount=0 \
  "$@" >"$out/stdout" 2>&1 </dev/null || { tail -20 "$out/stdout" >&2; exit 1; }
if [[ ! -s $out/table.csv ]]; then
  say 'no samples; the end of its output:'
  tail -5 "$out/stdout" >&2
  exit 1
fi
grep '^|' "$out/stdout"
say "log, samples and table: $out"
