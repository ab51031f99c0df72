#!/bin/sh
# Declares one example's stack, runs its service until all messages are settled, and removes the stack.
# Usage: examples/retries/run.sh interval-queues|work-queue|delay-network|hold-queues|delayed-retry
set -eu
here=$(cd "$(dirname "$0")" && pwd)
example=${1:-}
if [ ! -f "$here/$example/stack.js" ]; then
  echo "usage: $0 $(cd "$here" && ls -d */ | tr -d / | grep -v shared | tr '\n' '|' | sed 's/|$//')" >&2
  exit 2
fi
if [ -z "${RABBITMQ_MANAGEMENT_URL:-}" ]; then
  if [ ! -f "$here/../../.local/env" ]; then
    echo "no broker: run make up first" >&2
    exit 2
  fi
  . "$here/../../.local/env"
fi
cd "$here/$example"
outputs=$(mktemp)
finish() {
  rm -f "$outputs"
  pulumi destroy --yes --skip-preview --stack example --suppress-outputs --suppress-progress >/dev/null
}
pulumi stack select --create example >/dev/null
trap finish EXIT
trap 'exit 130' INT TERM
echo "Declaring the stack of $example:"
pulumi up --yes --skip-preview --stack example --suppress-outputs --suppress-progress
pulumi stack output --json --stack example >"$outputs"
echo "Its service:"
STACK_OUTPUTS="$outputs" node service.js
