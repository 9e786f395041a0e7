/**
 * What the reaper runs: POSIX shell, and `grep` and `ps` where the shell cannot see. Its arguments
 * are the mark of our workers and the folder of the system's process table.
 *
 * It remembers `+ pid born` until `- pid`. When its input ends, the process that held the other end
 * is gone, however it ended; then whatever group is left is killed, and every process that carries
 * the mark in its environment. Nothing else [WO9]: a number whose process began at another time has
 * a new owner. When it began is told by us, or, where we cannot see it (`-`), looked up with `ps` as
 * soon as we tell the number. A leader that is gone has left its number to its group.
 */
export const REAPER_SCRIPT: string = `
trap '' INT TERM HUP QUIT TSTP TTIN TTOU
mark=$1
proc=$2
live=

began() {
  ps -o lstart= -p "$1" 2>/dev/null | tr -s ' \\n' '__'
}

while read -r sign pid born; do
  case $sign in
    +)
      [ "$born" = - ] && born=ps_$(began "$pid")
      live="$live $pid:$born"
      ;;
    -)
      kept=
      for one in $live; do
        [ "\${one%%:*}" = "$pid" ] || kept="$kept $one"
      done
      live=$kept
      ;;
  esac
done

is_ours() {
  case $2 in
    ps_) return 1 ;;
    ps_*)
      [ "ps_$(began "$1")" = "$2" ]
      return
      ;;
  esac
  pid=$1
  born=$2
  read -r stat < "$proc/$pid/stat" || return 1
  set -f
  set -- \${stat##*) }
  set +f
  [ "\${20}" = "$born" ]
}

for one in $live; do
  pid=\${one%%:*}
  if kill -0 "$pid" 2>/dev/null; then
    is_ours "$pid" "\${one#*:}" || continue
  fi
  kill -s KILL -- "-\${one%%:*}" 2>/dev/null
done

cd "$proc" 2>/dev/null || exit 0
rounds=0
while [ "$rounds" -lt 50 ]; do
  found=
  for file in $(grep -l "SYNOD_WORKER_OF=$mark" [0-9]*/environ 2>/dev/null); do
    kill -s KILL "\${file%%/*}" 2>/dev/null && found=1
  done
  [ -n "$found" ] || exit 0
  rounds=$((rounds + 1))
  sleep 0.1 2>/dev/null || sleep 1
done
`;
