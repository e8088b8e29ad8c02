#!/bin/sh
# The agent of the kill harness. It writes down each time that it begins and ends, under a mark which stands
# in its answer too, and does what the last "do:" of its input says.
input=$(cat)
what=${input##*do:}
what=${what%%[!a-z]*}
mark=$$-$(date +%s%N)
printf 'begin %s %s\n' "$AGENT_RUN_ID" "$mark" >> "$KILL_LOG"
echo "mark:$mark"
case "$what" in
  slow) sleep 2.5 ;;
  short) sleep 0.3 ;;
  fail) echo "the tests are red" >&2 ;;
  ask) echo "Which one do you mean?"; echo "AGENT_BLOCKED" ;;
  pull) echo "Done: https://github.com/octo/app/pull/9" ;;
esac
printf 'end %s %s\n' "$AGENT_RUN_ID" "$mark" >> "$KILL_LOG"
[ "$what" != fail ]
