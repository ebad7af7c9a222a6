#!/bin/bash
# Succeeds when the service in this container answers /health/live (or /health/ready, with the argument `ready`) with 200.
# Without Node, whose start takes longer than the answer. A worker listens on METRICS_PORT alone.
set -u
port=${METRICS_PORT:-${PORT:-3000}}
exec 3<>"/dev/tcp/127.0.0.1/$port" || exit 1
printf 'GET /health/%s HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n' "${1:-live}" >&3
read -r -t 4 _ status _ <&3 || exit 1
[ "$status" = 200 ]
