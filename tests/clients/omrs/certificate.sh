#!/usr/bin/env bash
# Runs Egeria's own REST repository connector against a server of its own with authentication and TLS:
# the connector's JVM shows the certificate of the user `egeria`, which may act for the users in the paths.
# That is how a platform comes in, since the connector sends no password with GET. VARVE_BIN says which server.
set -euo pipefail
here="$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
for tool in java keytool openssl curl; do
  command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 0; }
done
keys="$(mktemp -d "${TMPDIR:-/tmp}/varve-keys.XXXXXX")"
trap 'rm -rf -- "$keys"' EXIT
cd "$keys"
make_authority() { # NAME
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$1" \
    -keyout "$1.key" -out "$1.pem" 2>/dev/null
}
make_certificate() { # AUTHORITY NAME EXTENSIONS: NAME.key and NAME.pem
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$2" -keyout "$2.key" \
    -out "$2.csr" 2>/dev/null
  openssl x509 -req -in "$2.csr" -CA "$1.pem" -CAkey "$1.key" -CAcreateserial -days 2 -extfile <(echo "$3") \
    -out "$2.pem" 2>/dev/null
}
make_authority servers
make_authority clients
make_certificate servers server 'subjectAltName=IP:127.0.0.1'
make_certificate clients egeria 'extendedKeyUsage=clientAuth'
openssl pkcs12 -export -in egeria.pem -inkey egeria.key -passout pass:secret -out egeria.p12
keytool -importcert -noprompt -alias servers -file servers.pem -keystore trusted.p12 -storepass secret 2>/dev/null

export VARVE_ADMIN_PASSWORD='correct horse'
server_options=(--set omrs.enabled=true --set auth.enabled=true --set auth.act_for=egeria
  --set tls.certificate_file="$keys/server.pem" --set tls.key_file="$keys/server.key"
  --set tls.client_ca_file="$keys/clients.pem")
source "$here/../../start-server.sh"
trap 'stop_server; rm -rf -- "$keys"' EXIT

post() { # PATH BODY, as the administrator
  curl -sS --fail-with-body --cacert servers.pem -u "admin:$VARVE_ADMIN_PASSWORD" -H 'content-type: application/json' \
    -o "$keys/answer" -d "$2" "$url/auth/$1" || { cat "$keys/answer"; exit 1; }
}
post users '{"user_name": "egeria", "user_password": "it is never used"}'
post groups '{"group_name": "platforms"}'
post targets '{"target_name": "metadata", "target_graph": "metadata", "target_url": "", "target_resources": [{"type": "ALL"}]}'
post belongs '{"user": "-30:egeria", "group": "-36:platforms"}'
post accesses '{"group": "-36:platforms", "target": "-44:metadata", "access_permission": "ANY"}'

VARVE_JAVA_OPTIONS="-Djavax.net.ssl.keyStore=$keys/egeria.p12 -Djavax.net.ssl.keyStorePassword=secret \
  -Djavax.net.ssl.trustStore=$keys/trusted.p12 -Djavax.net.ssl.trustStorePassword=secret" "$here/run.sh" "$url"
