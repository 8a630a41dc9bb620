# trainvigil probe. This first line is here to be eaten: a start-up file of the login shell that reads stdin takes it and does no harm.
#
# One POSIX sh script that a watching machine feeds to `/bin/sh -s`. It reads and reports, it never concludes and never writes anything on this host.
# Requests come one a line on stdin; the answers go to stdout as lines that begin with the request's own number. docs/wire-format.md has the bytes.
# Everything that can hang (a driver, a dead file system, /proc/PID/cmdline) runs in a background child of its own; this shell only ever waits for
# the next request. Nothing may stand after the last line: some shells would read it as a request.

tv_version=2

# --- words of requests ------------------------------------------------------------------------------------------------------------------------

# $1 of a request, with bytes that a line can not carry written as \0ooo -> $v. Command substitution eats trailing newlines, hence the dot.
tv_decode() {
  case $1 in
    -) v= ;;
    *\\*) v=$(printf '%b.' "$1"); v=${v%.} ;;
    *) v=$1 ;;
  esac
}

# A path of a request -> $v, never to be taken for an option.
tv_path() {
  tv_decode "$1"
  case $v in /*) ;; *) v=./$v ;; esac
}

# --- answers ----------------------------------------------------------------------------------------------------------------------------------

# stdin -> lines "<seq> text" in writes of at most 4096 bytes, which a pipe never mixes with those of another child. Longer lines go out in parts
# marked "<seq>+". $1: seq, $2: most lines (0: any), $3: most bytes (0: any).
tv_send() {
  if [ -n "$tv_awk" ]; then
    exec awk -v q="$1" -v maxl="$2" -v maxb="$3" '
      function flush_out() { if (buf != "") { printf "%s", buf; fflush(); buf = "" } }
      function put(s) { sent += length(s); if (length(buf) + length(s) > 3900) flush_out(); buf = buf s }
      {
        if ((maxl > 0 && NR > maxl) || (maxb > 0 && sent + length($0) > maxb)) { cut = 1; exit }
        s = $0
        while (length(s) > 3000) { put(q "+" substr(s, 1, 3000) "\n"); s = substr(s, 3001) }
        put(q " " s "\n")
      }
      END { if (cut) put(q "~cut\n"); flush_out() }'
  fi
  lines=0
  while IFS= read -r text || [ -n "$text" ]; do
    lines=$((lines + 1))
    if [ "$2" -gt 0 ] && [ "$lines" -gt "$2" ]; then printf '%s~cut\n' "$1"; break; fi
    printf '%s %s\n' "$1" "$text"
  done
}

# Runs a command that may hang under a pid that the watching side knows, so that it can ask for its end.
tv_tool() (
  read -r pid rest </proc/self/stat
  printf '%s!%s\n' "$q" "$pid" >&3
  exec "$@"
)

# Why a path can not be used, in the system's own words.
tv_why() {
  why=$(tv_tool ls -d "$1/." 2>&1 >/dev/null) || :
  printf '%s error:%s\n' "$q" "${why##*: }"
}

# Whether the child of a slot is still there. A finished one is collected here.
tv_alive() {
  child=$1
  { read -r text </proc/"$child"/stat; } 2>/dev/null || return 1
  text=${text##*) }
  set -- $text
  [ "$2" = "$tv_pid" ] || return 1
  case $1 in
    Z | X) wait "$child"; return 1 ;;
  esac
  return 0
}

# $1: slot, $2: "w" when the watching side has the end of the slot's last answer, so that its child is about to exit; $3: function, $4: seq, then its
# own arguments. At most one child a slot is ever alive.
tv_start() {
  slot=$1 ended=$2
  shift 2
  case $slot in '' | *[!a-z0-9]*) return ;; esac
  eval "old=\${tv_child_$slot:-}"
  if [ -n "$old" ]; then
    if [ "$ended" = w ]; then
      wait "$old"
    elif tv_alive "$old"; then
      printf '%s.busy\n' "$2"
      return
    fi
  fi
  tv_section "$@" </dev/null 2>/dev/null 3>&1 &
  eval "tv_child_$slot=\$!"
}

# The life of one child: the sensor, then the line that ends its answer with two readings of the uptime, the cheapest clock there is.
tv_section() {
  trap - HUP INT TERM
  sensor=$1 q=$2 state=ok from= to=
  shift 2
  read -r from text </proc/uptime
  "$sensor" "$@"
  read -r to text </proc/uptime
  printf '%s.%s %s %s\n' "$q" "$state" "$from" "$to"
}

# --- sensors ----------------------------------------------------------------------------------------------------------------------------------

# Host and processes known by number. Each line stands behind the name of its file, so that a process name with a newline in it can not lie. A few files
# are read by the shell itself, which is cheaper than a child; many by one grep. None of these reads waits for the process.
# $1: pids, separated by commas
tv_process() {
  files='/proc/uptime /proc/loadavg /proc/sys/kernel/random/boot_id' count=0
  IFS=,
  for pid in $1; do
    case $pid in '' | *[!0-9]*) ;; *) files="$files /proc/$pid/stat /proc/$pid/io" count=$((count + 1)) ;; esac
  done
  IFS=$tv_ifs
  date "+$q now:%s.%N"
  if [ "$count" -gt 4 ]; then
    tv_tool grep -s '' $files /dev/null | tv_send "$q" 0 1000000
    return
  fi
  for file in $files; do
    while IFS= read -r text || [ -n "$text" ]; do printf '%s %s:%s\n' "$q" "$file" "$text"; done <"$file"
  done
}

# Parents, owners and command lines of the processes younger than pid $1 (0: all) or of the pids $2. The kernel hands out pids in ascending order,
# so that on most polls there is nothing to read. A command line can not be read while its process hangs in the kernel: this child is the one to hang.
tv_scan() {
  since=$1 last=0
  read -r text text text text last </proc/loadavg
  status= cmdline=
  if [ "$2" != - ]; then
    IFS=,
    for pid in $2; do
      case $pid in '' | *[!0-9]*) ;; *) status="$status /proc/$pid/status" cmdline="$cmdline /proc/$pid/cmdline" ;; esac
    done
    IFS=$tv_ifs
  else
    [ "$last" -ge "$since" ] || since=0
    set +f
    if [ "$since" = 0 ]; then
      # In this order: a process that begins in between has no command line here, and none is ever told of without its parent.
      cmdline=$(echo /proc/[0-9]*/cmdline)
      status=$(echo /proc/[0-9]*/status)
    else
      read -r self text </proc/self/stat
      for dir in /proc/[0-9]*; do
        pid=${dir#/proc/}
        if [ "$pid" -gt "$since" ] && [ "$pid" != "$self" ]; then status="$status $dir/status" cmdline="$cmdline $dir/cmdline"; fi
      done
    fi
    set -f
  fi
  printf '%s last:%s %s\n' "$q" "$last" "$since"
  [ -n "$status" ] || return
  {
    grep -s -E '^(PPid|Uid):' $status /dev/null
    if [ -n "$tv_grep_nul" ]; then
      tv_tool grep -s -a '' $cmdline /dev/null | tr '\000' '\001'
    else
      for file in $cmdline; do
        text=$(tv_tool tr '\000\n' '\001 ' <"$file") && [ -n "$text" ] && printf '%s:%s\n' "$file" "$text"
      done
    fi
    printf 'end:\n'
  } | tv_send "$q" 0 1500000
}

# $1: uid
tv_user() {
  case $1 in '' | *[!0-9]*) return ;; esac
  tv_tool id -un "$1" | tv_send "$q" 1 4096
}

# $1: mark, $2: levels, $3: "c" when the time of the last change is wanted too. One entry a line: mark, type, bytes, time, path; a link's target follows
# on a line of its own. A name's own newline gives a line that does not begin with the mark, which no name can know. A directory comes before what is
# in it.
tv_walk() {
  if [ "$tv_lister" = find ]; then
    tv_tool find . -ignore_readdir_race -maxdepth "$2" -printf "$1%y %s %T@ ${3:+%C@ }%P\n" -type l -printf "$1t %l\n"
    printf '%sx %s\n' "$1" $?
  else
    tv_tool find . -maxdepth "$2" -exec stat -c "$1%f %s %Y ${3:+%Z }%n" {} +
    printf '%sx %s\n' "$1" $?
    tv_tool find . -mindepth 1 -maxdepth "$2" -type l -exec /bin/sh -c \
      'm=$1; shift; for l do printf "%sL 0 0 %s\n%st " "$m" "$l" "$m"; readlink "$l"; done' sh "$1" {} +
  fi
}

# The lines of a walk -> those that are wanted, then sums over all of them: whoever has the listing from before knows by these whether what changed since
# explains all that is different now. Holds no names but those of directories that changed, so that its size does not grow with the listing's.
# $1: mark, $2: most entries, $3: most bytes, $4: time of change from which on entries are wanted, or - for all; $5: "c" when a changed directory is
# to be listed anew, that is with all that lies directly in it; $6: file time below which entries are left out, or -; $7: "m" when pictures and sound
# are left out whatever their time, "h" when these are and large files are not
tv_sift() {
  exec awk -v m="$1" -v most="$2" -v room="$3" -v since="$4" -v anew="$5" -v floor="$6" -v lean="$7" -v now="$(date +%s)" '
    function out(s) { lines++; room -= length(s) + 10; print s }
    BEGIN { ml = length(m); all = since == "-"; asked = room; last = 0; top = -1 }
    index($0, m) != 1 {
      if (named) names += length($0) + 1
      if (keep) out($0)
      next
    }
    { type = substr($1, ml + 1) }
    type == "t" { named = 0; if (keep) out($0); next }
    type == "L" { named = 0; keep = lines < most && room > 0; if (keep) out($0); next }
    type == "x" { status = $2; next }
    {
      named = 1
      keep = 0
      path = substr($0, length($1) + length($2) + length($3) + length($4) + 5)
      if (substr(path, 1, 2) == "./") path = substr(path, 3)
      if (path == ".") path = ""
      directory = type == "d" || (length(type) == 4 && substr(type, 1, 1) == "4")
      file = type == "f" || (length(type) == 4 && substr(type, 1, 1) == "8")
      moved = all || $4 + 0 >= since + 0
      if ($4 + 0 > last + 0) last = $4
      if (!all && moved && directory && anew == "c") {
        changed[path] = 1
        found = 1
        out(m "n " path)
      }
      if (path == "" && !rooted++) next  # a name that begins with a newline comes as an empty one, too
      count++
      names += length(path)
      seconds += int($3)
      if (file) bytes += $2
      if (!moved) {
        if (!found) next
        above = path
        if (!sub(/\/[^\/]*$/, "", above)) above = ""
        if (!(above in changed)) next
      }
      media = path ~ /\.([pP][nN][gG]|[jJ][pP][eE]?[gG]|[gG][iI][fF]|[wW][eE][bB][pPmM]|[bB][mM][pP]|[tT][iI][fF]+|svg|pdf|wav|mp3|mp4|flac|ogg|avi|mkv)$/
      kept = !file && !directory
      if (file && path ~ /(^|\/)(latest[^\/]*|last_checkpoint[^\/]*|checkpoint|(args|opt|hparams)\.yaml|(results|metrics|summary|progress)\.csv|(trainer_log|metrics|stats)\.jsonl|((train_)?log|progress|results)\.txt|all_results\.json)$/)
        kept = kept_lines < 2000
      if (!kept) {
        heavy = file && !media && $2 >= 100000
        if ((media && lean != "-") || (floor != "-" && $3 + 0 < floor + 0 && !(heavy && lean == "h"))) { left++; next }
      }
      size = length($0) - length($4) + 9
      if (all) {
        if (kept) {
          kept_lines++
          kept_bytes += size
        } else if (media) {
          media_lines++
        } else {
          # Ages by their first two digits and how many there are. Some builds of busybox have no logarithm.
          age = now - $3
          age = age < 0 ? "0" : int(age < 2000000000 ? age : 2000000000) ""
          b = length(age) * 100 + substr(age "0", 1, 2)
          if (b > top) top = b
          in_bucket[b]++
          bytes_in_bucket[b] += size
          if (heavy) {
            heavy_lines++
            heavy_bytes += size
            heavy_in_bucket[b]++
            heavy_bytes_in_bucket[b] += size
          }
        }
      }
      if (lines >= most || room < size) {
        over = 1
        left++
        next
      }
      keep = 1
      out($1 " " $2 " " $3 " " path)
    }
    END {
      # What to ask for when all this is too much: no pictures, and of the rest the newest that fit, by ages of two digits.
      if (over && all) {
        if (media_lines > 0 && lean == "-") lean = "m"
        lines_left = most * 0.95 - kept_lines
        room_left = asked * 0.95 - kept_bytes
        # A few large files among many small ones are the checkpoints: none of them gives way.
        few = heavy_lines > 0 && heavy_lines < most / 4 && heavy_bytes < asked / 4
        if (few) {
          lean = "h"
          lines_left -= heavy_lines
          room_left -= heavy_bytes
        }
        for (b = 100; b <= top; b++) {
          lines_left -= in_bucket[b] - (few ? heavy_in_bucket[b] : 0)
          room_left -= bytes_in_bucket[b] - (few ? heavy_bytes_in_bucket[b] : 0)
          if (lines_left < 0 || room_left < 0) break
          taken += in_bucket[b]
        }
        # Copies may all have one time: then no time parts them, and the first that come are taken.
        if (b <= top && taken < most / 20) b++
        if (b <= top) {
          age = b % 100 < 10 && b > 100 ? 10 : b % 100
          for (b = int(b / 100); b > 2; b--) age *= 10
          floor = sprintf("%.3f", now - (b == 1 ? age / 10 : age))
        }
      }
      printf "%ss %d %.0f %.0f %.0f %s %d %d %s %s\n", m, count, bytes, seconds, names, last, left, over, lean, floor
      if (status != "") print m "x " status
    }'
}

# $1: mark, $2: levels, $3: most entries, $4: most bytes of them, $5: most bytes of the answer, $6 to $9: what tv_sift leaves out, $10: "z" when the
# answer is to be packed, $11: directory
tv_list() {
  tv_path "${11}"
  if ! cd "$v"; then
    tv_why "$v"
    state=absent
    return
  fi
  if [ ! -r . ]; then
    printf '%s error:Permission denied\n' "$q"
    state=denied
    return
  fi
  if [ "$tv_lister" = none ]; then
    printf '%s error:neither find -printf nor stat -c works here\n' "$q"
    state=absent
    return
  fi
  if [ -z "$tv_awk" ]; then
    tv_walk "$1" "$2" | tv_send "$q" "$3" "$5"
  elif [ "${10}" = z ] && [ -n "$tv_pack" ]; then
    printf '%s packed:\n' "$q"
    tv_walk "$1" "$2" c | tv_sift "$1" "$3" "$4" "$6" "$7" "$8" "$9" | gzip -1 | base64 -w 3000 | tv_send "$q" 0 "$5"
  else
    tv_walk "$1" "$2" c | tv_sift "$1" "$3" "$5" "$6" "$7" "$8" "$9" | tv_send "$q" 0 3900000
  fi
}

# $1: mark, $2: most bytes, $3: directory, then for each piece: path, block size, blocks to skip, blocks to read. Afterwards size and time of all
# files once more: what changed meanwhile is not to be believed.
tv_read() {
  tv_path "$3"
  mark=$1 most=$2
  if ! cd "$v"; then
    tv_why "$v"
    state=absent
    return
  fi
  shift 3
  {
    piece=0 count=$#
    while [ "$piece" -lt "$count" ]; do
      tv_decode "$1"
      printf '%sc %s\n' "$mark" "$((piece / 4))"
      if [ -f "./$v" ] && [ ! -h "./$v" ]; then
        tv_tool dd if="./$v" bs="$2" skip="$3" count="$4" 2>/dev/null | $tv_encode
        set -- "$@" "./$v"
      fi
      shift 4
      piece=$((piece + 4))
    done
    if [ $# -gt 0 ]; then
      if [ "$tv_lister" = find ]; then
        tv_tool find "$@" -maxdepth 0 -printf "$mark%y %s %T@ %p\n"
      else
        tv_tool stat -c "$mark%f %s %Y %n" "$@"
      fi
    fi
  } | tv_send "$q" 0 "$most"
}

# Bytes of the file $v: $1 where they begin, counted from 0, $2 counted from 1, $3 how many. Politely: they are read once, so they should not push what
# training reads out of memory, and training goes first.
tv_stretch() {
  if [ -n "$tv_dd_bytes" ]; then
    tv_tool $tv_nice dd if="./$v" bs=1048576 iflag="$tv_dd_bytes" skip="$1" count="$3" 2>/dev/null
  else
    tv_tool $tv_nice tail -c "+$2" "./$v" | head -c "$3"
  fi
}

# stdin -> CRC and length as cksum has them, of the bytes with their bits in opposite order: from these the watching side computes the CRC of zip.
tv_cksum() {
  tr '\000-\377' "$tv_turned" | cksum
}

# What tv_sum needs of the tools here. tr has to take all 256 escapes for what they are.
tv_prepare_sum() {
  tv_turned='\000\200\100\300\040\240\140\340\020\220\120\320\060\260\160\360\010\210\110\310\050\250\150\350\030\230\130\330\070\270\170\370'
  tv_turned=$tv_turned'\004\204\104\304\044\244\144\344\024\224\124\324\064\264\164\364\014\214\114\314\054\254\154\354\034\234\134\334\074\274\174\374'
  tv_turned=$tv_turned'\002\202\102\302\042\242\142\342\022\222\122\322\062\262\162\362\012\212\112\312\052\252\152\352\032\232\132\332\072\272\172\372'
  tv_turned=$tv_turned'\006\206\106\306\046\246\146\346\026\226\126\326\066\266\166\366\016\216\116\316\056\256\156\356\036\236\136\336\076\276\176\376'
  tv_turned=$tv_turned'\001\201\101\301\041\241\141\341\021\221\121\321\061\261\161\361\011\211\111\311\051\251\151\351\031\231\131\331\071\271\171\371'
  tv_turned=$tv_turned'\005\205\105\305\045\245\145\345\025\225\125\325\065\265\165\365\015\215\115\315\055\255\155\355\035\235\135\335\075\275\175\375'
  tv_turned=$tv_turned'\003\203\103\303\043\243\143\343\023\223\123\323\063\263\163\363\013\213\113\313\053\253\153\353\033\233\133\333\073\273\173\373'
  tv_turned=$tv_turned'\007\207\107\307\047\247\147\347\027\227\127\327\067\267\167\367\017\217\117\317\057\257\157\357\037\237\137\337\077\277\177\377'
  tv_nice=
  [ "$(nice -n 19 echo a)" != a ] || tv_nice='nice -n 19'
  tv_dd_bytes=
  for flags in skip_bytes,count_bytes,nocache skip_bytes,count_bytes; do
    if [ "$(printf abcd | dd bs=1024 iflag="$flags" skip=1 count=2)" = bc ]; then
      tv_dd_bytes=$flags
      break
    fi
  done
  text=$(printf '\000\001\200\377-[]\\%%az' | tv_cksum)
  [ "$text" = '4158048584 11' ]
}

# $1: mark, $2: directory, then for each piece: path, offset from 0, offset from 1, length, and "-" or, of what is packed, the eight bytes that end a gzip
# file of it. Nothing of the files is sent. A piece that comes short ends the answer: the file shrank, or time is up.
tv_sum() {
  tv_path "$2"
  mark=$1
  if ! cd "$v"; then
    tv_why "$v"
    state=absent
    return
  fi
  if ! tv_prepare_sum; then
    state=absent
    return
  fi
  shift 2
  {
    piece=0 count=$#
    while [ "$piece" -lt "$count" ]; do
      tv_decode "$1"
      if [ -f "./$v" ] && [ ! -h "./$v" ]; then
        if [ "$5" = - ]; then
          text=$(tv_stretch "$2" "$3" "$4" | tv_cksum)
        elif command -v gzip >/dev/null; then
          { printf '\037\213\010\000\000\000\000\000\000\003'; tv_stretch "$2" "$3" "$4"; printf '%b' "$5"; } | gzip -t
          text="gzip $?"
        else
          text=
        fi
        printf '%ss %s %s\n' "$mark" "$((piece / 5))" "$text"
        set -- "$@" "./$v"
        [ "$5" != - ] || [ "${text##* }" = "$4" ] || break
      fi
      shift 5
      piece=$((piece + 5))
    done
    while [ "$piece" -lt "$count" ]; do
      shift 5
      piece=$((piece + 5))
    done
    if [ $# -gt 0 ]; then
      if [ "$tv_lister" = find ]; then
        tv_tool find "$@" -maxdepth 0 -printf "$mark%y %s %T@ %p\n"
      else
        tv_tool stat -c "$mark%f %s %Y %n" "$@"
      fi
    fi
  } | tv_send "$q" 0 1000000
}

# $1: a path on the file system, $2: "shm" when /dev/shm is wanted as well (first: it never hangs)
tv_disk() {
  # One short line each: stat writes it at once.
  [ "$2" != shm ] || stat -f -c "$q shm:%S %b %a %d" /dev/shm
  [ "$1" != - ] || return
  tv_path "$1"
  if tv_tool stat -f -c "$q disk:%S %b %a %d" "$v"; then
    return
  elif text=$(tv_tool df -Pk "$v") && [ -n "$text" ]; then
    printf '%s df:%s\n' "$q" "${text##*
}"
    text=$(tv_tool df -Pi "$v") && printf '%s dfi:%s\n' "$q" "${text##*
}"
  else
    tv_why "$v"
    state=absent
  fi
}

# $1: bytes and $2: time of the log that the watching side has, $3: bytes of the tail, $4: path
tv_log() {
  tv_path "$4"
  if [ "$tv_lister" = find ]; then
    text=$(tv_tool find -H "$v" -maxdepth 0 -type f -printf '%s %T@')
  else
    text=$(tv_tool stat -L -c '%s %Y' "$v")
  fi
  if [ -z "$text" ] || [ ! -f "$v" ]; then
    why=$(ls -d "$v" 2>&1 >/dev/null)
    printf '%s error:%s\n' "$q" "${why##*: }"
    state=absent
    return
  fi
  printf '%s size:%s\n' "$q" "$text"
  [ "$text" != "$1 $2" ] || return
  if [ ! -r "$v" ]; then
    state=denied
    return
  fi
  tv_tool tail -c "$3" "$v" | $tv_encode | tv_send "$q" 0 100000
}

# A burst of readings by one nvidia-smi, then the compute processes. TERM ends it, never KILL: a driver may not survive that.
# $1: readings, $2: milliseconds between them, $3: fields
tv_gpu() {
  if ! command -v nvidia-smi >/dev/null; then
    state=absent
    return
  fi
  loop=
  [ "$1" -le 1 ] || loop="-lms $2"
  {
    (
      read -r pid text </proc/self/stat
      printf '%s!%s\n' "$q" "$pid" >&3
      printf 'pid:%s\n' "$pid"
      exec nvidia-smi --query-gpu="$3" --format=csv,noheader,nounits $loop 2>&1
    )
    printf '\nrc:%s\n' $?
  } | {
    pid= first= got=0 stopped= room=400
    while IFS= read -r text; do
      case $text in
        pid:*) [ -n "$pid" ] || { pid=${text#pid:}; continue; } ;;
        rc:*) [ -z "$stopped" ] || text=rc:0 ;;
        '') continue ;;
        *)
          if [ -z "$first" ]; then
            first=${text%%,*}
            read -r at rest </proc/uptime
            printf '%s first:%s\n' "$q" "$at"
          fi
          [ "${text%%,*}" != "$first" ] || got=$((got + 1))
          [ -z "$stopped" ] || continue
          ;;
      esac
      # Rows come in the order of the GPUs: when the first one is seen once more than asked for, all readings are complete.
      if [ "$got" -gt "$1" ] && [ -z "$stopped" ]; then
        stopped=1
        kill -TERM "$pid"
        continue
      fi
      room=$((room - 1))
      [ "$room" -lt 0 ] || printf '%s row:%.2000s\n' "$q" "$text"
    done
  }
  {
    tv_tool nvidia-smi --query-compute-apps=gpu_uuid,pid,used_memory --format=csv,noheader,nounits 2>&1
    printf '\nrc:%s\n' $?
  } | sed 's/^/app:/' | tv_send "$q" 500 100000
}

# $1: mark. The first source that can be read is taken; the trailer after each says whether it could.
tv_kernel() {
  words='oom-kill|Out of memory|[Kk]illed process|oom_reaper|NVRM: Xid|NVRM: GPU .*(lost|fallen)|fallen off the bus'
  text=$({ tv_tool dmesg; printf '%sx %s\n' "$1" $?; } | grep -a -E "$words|^$1" | tail -n 60)
  case $text in
    *"$1x 0") printf '%s source:dmesg\n' "$q" ;;
    *)
      if [ -r /var/log/kern.log ]; then
        printf '%s source:kern.log\n' "$q"
        text=$(tv_tool tail -c 400000 /var/log/kern.log | grep -a -E "$words" | tail -n 60)
      elif [ -n "$(tv_tool journalctl -k -b -q -n 1 -o short-unix --no-pager)" ]; then
        printf '%s source:journal\n' "$q"
        text=$(tv_tool journalctl -k -b -q -n 4000 -o short-unix --no-pager | grep -a -E "$words" | tail -n 60)
      else
        state=denied
        return
      fi
      ;;
  esac
  printf '%s\n' "$text" | tv_send "$q" 80 60000
}

# --- the resident shell -----------------------------------------------------------------------------------------------------------------------

# Ends what hangs, by the pids that tv_tool announced. A pid that is not of our process group is no child of ours any more.
tv_end() {
  for pid in "$@"; do
    case $pid in '' | *[!0-9]*) continue ;; esac
    { read -r text </proc/"$pid"/stat; } 2>/dev/null || continue
    text=${text##*) }
    text=${text#* } text=${text#* }
    [ "${text%% *}" != "$tv_group" ] || kill -TERM "$pid" 2>/dev/null
  done
}

# All processes below this shell. First found, then ended: a child whose parent has gone is nobody's child any more.
tv_end_tree() {
  set +f
  parents=" $tv_pid " all=
  while :; do
    found=
    for file in /proc/[0-9]*/stat; do
      { read -r text <"$file"; } 2>/dev/null || continue
      pid=${text%% *}
      text=${text##*) } text=${text#* }
      case $parents in *" ${text%% *} "*) found="$found $pid" ;; esac
    done
    [ -n "$found" ] || break
    all="$all$found" parents="$found "
  done
  [ -z "$all" ] || kill -TERM $all 2>/dev/null
}

# The watching side is gone: nothing of ours stays.
tv_bye() {
  trap '' HUP INT TERM
  if [ "$tv_group" = "$tv_pid" ]; then kill -TERM 0; else tv_end_tree; fi
  exit 0
}

# What differs between hosts, found out once.
tv_prepare() {
  tv_ifs=' 	
'
  IFS=$tv_ifs
  LC_ALL=C PATH=${PATH:+$PATH:}/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin
  PATH=$PATH:/usr/local/nvidia/bin:/usr/local/cuda/bin:/usr/lib/wsl/lib:/opt/nvidia/bin:/run/current-system/sw/bin
  export LC_ALL PATH
  unset CDPATH ENV BASH_ENV POSIXLY_CORRECT GREP_OPTIONS BLOCKSIZE BLOCK_SIZE DF_BLOCK_SIZE TMOUT
  set +e +u +x -f
  unalias -a 2>/dev/null

  read -r text </proc/self/stat
  tv_pid=${text%% *}
  text=${text##*) } text=${text#* } text=${text#* }
  tv_group=${text%% *}

  tv_awk=
  [ "$(printf 'a\n' | awk '{ print $0 "b"; fflush() }' 2>/dev/null)" != ab ] || tv_awk=1
  tv_grep_nul=
  [ "$(printf 'a\000b\n' | grep -a '' 2>/dev/null | tr '\000' '\001')" != "$(printf 'a\001b')" ] || tv_grep_nul=1
  tv_encode='od -An -v -tx1'
  [ "$(printf a | base64 2>/dev/null)" != YQ== ] || tv_encode=base64
  tv_pack=
  case $(printf a | gzip -1 2>/dev/null | base64 -w 3000 2>/dev/null) in H4sI*) tv_pack=1 ;; esac
  tv_lister=none
  if [ "$(find /dev/null -maxdepth 0 -printf %s 2>/dev/null)" = 0 ]; then
    tv_lister=find
  elif [ -n "$(stat -c %f /dev/null 2>/dev/null)" ]; then
    tv_lister=stat
  fi
  ticks=$(getconf CLK_TCK 2>/dev/null) || ticks=100
  page=$(getconf PAGESIZE 2>/dev/null) || page=
  cores=$(getconf _NPROCESSORS_ONLN 2>/dev/null) || cores=$(grep -c '^processor' /proc/cpuinfo 2>/dev/null)
  boot=$(grep '^btime ' /proc/stat 2>/dev/null)
}

tv_main() {
  tv_prepare
  trap tv_bye HUP INT TERM
  # A leading newline: noise of a start-up file may have left its last line open.
  printf '\nTV1 READY %s pid=%s ticks=%s page=%s cores=%s btime=%s lister=%s encode=%s\n' \
    "$tv_version" "$tv_pid" "$ticks" "$page" "$cores" "${boot#* }" "$tv_lister" "${tv_encode%% *}"
  while IFS= read -r line; do
    case $line in 'TV1 '[A-Z]' '*) ;; *) continue ;; esac
    set -- $line
    case $3 in ???????? ) ;; *) continue ;; esac
    case $3 in *[!0-9a-f]*) continue ;; esac
    case $2 in
      P) tv_start "$4" "$5" tv_process "$3" "$6" ;;
      F) tv_start "$4" "$5" tv_scan "$3" "$6" "$7" ;;
      U) tv_start "$4" "$5" tv_user "$3" "$6" ;;
      D) tv_start "$4" "$5" tv_list "$3" "$6" "$7" "$8" "$9" "${10}" "${11}" "${12}" "${13}" "${14}" "${15}" "${16}" ;;
      S) tv_start "$4" "$5" tv_disk "$3" "$6" "$7" ;;
      L) tv_start "$4" "$5" tv_log "$3" "$6" "$7" "$8" "$9" ;;
      M) tv_start "$4" "$5" tv_kernel "$3" "$6" ;;
      R | V)
        sensor=tv_read tv_seq=$3 slot=$4 ended=$5
        [ "$2" = R ] || sensor=tv_sum
        shift 5
        tv_start "$slot" "$ended" "$sensor" "$tv_seq" "$@"
        ;;
      G)
        # $6: seconds that must have passed since the last call began
        read -r now text </proc/uptime
        now=${now%%.*}
        if [ -n "${tv_gpu_at:-}" ] && [ $((now - tv_gpu_at)) -lt "$6" ]; then
          printf '%s.early\n' "$3"
        else
          tv_gpu_at=$now
          tv_start "$4" "$5" tv_gpu "$3" "$7" "$8" "$9"
        fi
        ;;
      K) shift 3; tv_end "$@" ;;
      Q) break ;;
    esac
  done
  tv_bye
}

tv_main; exit
