#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What every reproducer does. GET /jobs/N/reproduce.sh puts a job's facts and files before it: this file alone has none.
# shellcheck disable=SC2153,SC2154 # facts, in capitals, and the functions give_* are the job's
set -eu

usage() {
	cat <<EOF
usage: sh reproduce.sh [options]

Runs job $JOB of the lab $LAB_URL again, on this machine:
$SUBJECT

It builds the base kernel and the patched one with the recorded configuration, boots each of them under QEMU with the
recorded machine and command line, runs the benchmarks, and prints the table. It needs git, make, a C compiler and what a
kernel's build needs, QEMU, and a POSIX shell with the usual tools; no libvirt, and nothing of the lab but its guest image.

  --tree DIR             a git repository that has the base commit
                         $BASE_COMMIT
                         ${TREE_REMOTE:+(else $TREE_REMOTE is cloned)}
  --kernels BASE PATCHED these kernels (bzImage) instead of built ones: nothing is applied or built
  --image FILE           the guest image instead of the lab's ($IMAGE_URL)
  --boots N              of each kernel, $BOOTS if not given
  --jobs N               of make, as many as there are CPUs if not given
  --work DIR             where all is made and kept, ./regrlab-job-$JOB if not given
  --qemu PROGRAM         qemu-system-x86_64 if not given
  --write-only           write the series, configurations and plan of the job to the work directory, and do no more
  --help

In the end samples.csv is in the work directory: \`regrlab analyze samples.csv\` gives the lab's own statistics of it.
EOF
}

die() {
	echo "reproduce.sh: $*" >&2
	exit 1
}

say() {
	echo "== $*" >&2
}

need() {
	command -v "$1" >/dev/null 2>&1 || die "$1 is needed, and is not here${2:+ ($2)}"
}

tree='' base_kernel='' patched_kernel='' image='' write_only=''
boots=$BOOTS work=$PWD/regrlab-job-$JOB qemu=qemu-system-x86_64
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)

while [ $# -gt 0 ]; do
	case $1 in
	--help | -h) usage && exit 0 ;;
	--write-only) write_only=yes ;;
	--kernels)
		[ $# -ge 3 ] || die "--kernels needs two files"
		base_kernel=$2 patched_kernel=$3
		shift 2
		;;
	--tree | --image | --boots | --jobs | --work | --qemu)
		[ $# -ge 2 ] || die "$1 needs a value"
		case $1 in
		--tree) tree=$2 ;;
		--image) image=$2 ;;
		--boots) boots=$2 ;;
		--jobs) jobs=$2 ;;
		--work) work=$2 ;;
		--qemu) qemu=$2 ;;
		esac
		shift
		;;
	*) die "what is '$1'? (--help)" ;;
	esac
	shift
done
case $boots in '' | *[!0-9]* | 0*) die "--boots needs a number above 0" ;; esac

# ---- the two kernels ----

build() { # OBJ CONFIG RESULT
	say "building the $3 kernel in $1"
	cp "$2" "$1/.config"
	for target in olddefconfig bzImage; do
		make -C "$work/src" "O=$1" "-j$jobs" "KBUILD_BUILD_TIMESTAMP=Thu Jan  1 00:00:00 UTC 1970" \
			KBUILD_BUILD_VERSION=1 KBUILD_BUILD_USER=regrlab KBUILD_BUILD_HOST=regrlab LOCALVERSION= "$target" \
			>>"$work/build.log" 2>&1 || die "the $3 kernel does not build; see $work/build.log"
	done
	cp "$1/arch/x86/boot/bzImage" "$work/kernel-$3"
}

apply() {
	if [ -n "$HEAD_COMMIT" ]; then
		git -C "$work/src" checkout --quiet --detach "$HEAD_COMMIT"
	else
		say "applying the series"
		git -C "$work/src" -c user.name=regrlab -c user.email=regrlab@localhost -c commit.gpgSign=false am --quiet \
			--patch-format=mbox --no-3way --no-scissors --no-keep-cr --quoted-cr=strip "$work/series.mbox" || die "the series does not apply"
	fi
	[ -z "$PATCHED_TREE" ] || [ "$(git -C "$work/src" rev-parse 'HEAD^{tree}')" = "$PATCHED_TREE" ] ||
		say "warning: the patched source is not the one that the lab measured ($PATCHED_TREE)"
}

get_source() {
	need git
	need make "and what a kernel's build needs: a C compiler, flex, bison, bc, libelf"
	if [ -z "$tree" ]; then
		[ -n "$TREE_REMOTE" ] || die "--tree DIR is needed: a git repository that has commit $BASE_COMMIT"
		tree=$work/tree
		[ -d "$tree" ] || git clone --quiet "$TREE_REMOTE" "$tree"
	fi
	git -C "$tree" cat-file -e "$BASE_COMMIT^{commit}" 2>/dev/null || die "$tree does not have commit $BASE_COMMIT"
	[ -d "$work/src" ] || git -C "$tree" worktree add --quiet --force --detach "$work/src" "$BASE_COMMIT"
	git -C "$work/src" checkout --quiet --force --detach "$BASE_COMMIT"
}

build_kernels() {
	get_source
	mkdir -p "$work/obj"
	build "$work/obj" "$work/config-base" base
	apply
	rm -rf "$work/obj-patched"
	cp -a "$work/obj" "$work/obj-patched"
	build "$work/obj-patched" "$work/config-patched" patched
	base_kernel=$work/kernel-base patched_kernel=$work/kernel-patched
	echo "compiler here: $(cc --version | head -n 1); in the lab: $COMPILER"
}

# ---- the guest ----

digest() {
	sha256sum "$1" | cut -d ' ' -f 1
}

get_image() {
	if [ -z "$image" ]; then
		image=$work/guest.cpio
		say "getting $IMAGE_URL"
		if command -v curl >/dev/null 2>&1; then
			curl -fsS ${REGRLAB_TOKEN:+-H "Authorization: Bearer $REGRLAB_TOKEN"} -o "$image" "$IMAGE_URL" || die "the lab does not give its guest image; --image FILE"
		else
			need wget "or curl, or --image FILE"
			wget -q -O "$image" "$IMAGE_URL" || die "the lab does not give its guest image; --image FILE"
		fi
	fi
	[ -z "$IMAGE_SHA256" ] || [ "$(digest "$image")" = "$IMAGE_SHA256" ] ||
		say "warning: this guest image is not the one that the job was measured with; its benchmarks may be others"
}

zeros() { # COUNT
	[ "$1" -eq 0 ] || head -c "$1" /dev/zero
}

padding() { # SIZE: bytes to the next multiple of 4
	zeros $(((4 - $1 % 4) % 4))
}

# one entry of a cpio archive (newc): NAME MODE SIZE
cpio_head() {
	printf '070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%s\0' 1 "$2" 0 0 1 0 "$3" 0 0 0 0 $((${#1} + 1)) 0 "$1"
	padding $((110 + ${#1} + 1))
}

make_initrd() { # PLAN
	image_size=$(wc -c <"$image")
	plan_size=$(wc -c <"$1")
	cat "$image"
	padding "$image_size"
	cpio_head plan 33188 "$plan_size"
	cat "$1"
	padding "$plan_size"
	cpio_head 'TRAILER!!!' 0 0
}

make_disk() { # FILE
	PATH=$PATH:/usr/sbin:/sbin
	need mkfs.ext4
	truncate -s "${DISK_MIB}M" "$1"
	E2FSPROGS_FAKE_TIME=946684800 mkfs.ext4 -q -F -b 4096 -m 0 -O '^has_journal,^resize_inode,^metadata_csum' -N 1024 \
		-U 72656772-6c61-4b00-8000-000000000001 -L regrlab \
		-E hash_seed=72656772-6c61-4b00-8000-000000000002,lazy_itable_init=0,nodiscard,root_owner=0:0 "$1"
}

boot() { # NUMBER KERNEL DIR
	mkdir -p "$3"
	nonce=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
	sed "s/^nonce .*/nonce $nonce/" "$work/plan" >"$3/plan"
	make_initrd "$3/plan" >"$3/initrd"
	set -- "$@" -nodefaults -no-user-config -display none -no-reboot -m "$MEMORY_MIB" -smp "$CPUS,sockets=1,cores=$CPUS,threads=1" \
		-kernel "$2" -initrd "$3/initrd" -append "$CMDLINE" -serial "file:$3/console" -device virtio-serial-pci \
		-chardev "file,id=results,path=$3/results" -device virtserialport,chardev=results,name=org.regrlab.results.0
	if [ "$ACCELERATOR" = kvm ]; then
		set -- "$@" -machine "$MACHINE,hpet=off" -accel kvm -cpu host
	else
		set -- "$@" -machine "$MACHINE" -accel tcg -cpu kvm64
	fi
	[ "$CLOCK" != icount ] || set -- "$@" -icount shift=0,sleep=off -rtc base=2000-01-01T00:00:00,clock=vm
	if [ "$DISK_MIB" -gt 0 ]; then
		make_disk "$3/disk"
		set -- "$@" -drive "if=none,id=disk,file=$3/disk,format=raw,cache=unsafe" -device virtio-blk-pci,drive=disk
	fi
	number=$1 directory=$3
	shift 3
	"$qemu" "$@" </dev/null || die "boot $number: QEMU failed"
	rm -f "$directory/initrd" "$directory/disk"
	grep -q '"type":"end"' "$directory/results" || {
		tail -n 20 "$directory/console" >&2
		die "boot $number did not come to its end; its console is $directory/console"
	}
}

# the samples in what a guest sent, as the lab's samples.csv has them: ARM BOOT START_S FILE
samples() {
	awk -v arm="$1" -v boot="$2" -v start="$3" -v job="$JOB" -v clock="$CLOCK" '
	function member(name,   at, rest) {
		at = index($0, "\"" name "\":")
		if (!at)
			return ""
		rest = substr($0, at + length(name) + 3)
		if (substr(rest, 1, 1) == "\"") {
			rest = substr(rest, 2)
			return substr(rest, 1, index(rest, "\"") - 1)
		}
		return substr(rest, 1, match(rest, /[,}]/) - 1)
	}
	index($0, "\"type\":\"sample\"") {
		printf "%s,%s,%d,%d,here,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s000000000,1,\r\n", job, arm, boot, boot / 2, clock,
			member("benchmark"), member("params"), member("run"), member("pass"), member("metric"), member("unit"),
			member("better"), member("value"), start
	}' "$4"
}

# ---- the table ----

table() {
	tr -d '\r' <"$work/samples.csv" | awk -F , '
	# two-sided 95 % point of Student t
	function t95(df,   list) {
		if (df < 1)
			return 0
		split("12.706 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262 2.228 2.201 2.179 2.160 2.145 2.131 2.120 2.110" \
			" 2.101 2.093 2.086 2.080 2.074 2.069 2.064 2.060 2.056 2.052 2.048 2.045 2.042", list, " ")
		return df <= 30 ? list[df] : 1.96 + 2.4 / df
	}
	# of a boot: the median over runs of the mean over passes
	function summary(set, boot,   n, i, j, run, list, x) {
		n = 0
		for (run = 1; run <= runs; run++)
			if ((set, boot, run) in count)
				list[++n] = sum[set, boot, run] / count[set, boot, run]
		for (i = 2; i <= n; i++)
			for (j = i; j > 1 && list[j - 1] > list[j]; j--) {
				x = list[j]; list[j] = list[j - 1]; list[j - 1] = x
			}
		return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
	}
	function percent(x) {
		return sprintf("%+.2f%%", 100 * (exp(x) - 1))
	}
	NR > 1 && $10 > 0 {
		set = $7 " " $8 ": " $11 " in " $12 " (" $13 " is better)"
		if (!(set in seen)) {
			seen[set] = 1
			sets[++nsets] = set
		}
		if (!((set, $3) in arm_of)) {
			arm_of[set, $3] = $2
			boots = $3 > boots ? $3 : boots
		}
		runs = $9 > runs ? $9 : runs
		sum[set, $3, $9] += $14
		count[set, $3, $9]++
	}
	END {
		printf "%10s %10s %9s  %s\n", "base", "patched", "change", "95 % interval"
		for (s = 1; s <= nsets; s++) {
			n["base"] = n["patched"] = total["base"] = total["patched"] = square["base"] = square["patched"] = 0
			for (boot = 0; boot <= boots; boot++)
				if ((sets[s], boot) in arm_of) {
					y = log(summary(sets[s], boot))
					arm = arm_of[sets[s], boot]
					n[arm]++
					total[arm] += y
					square[arm] += y * y
				}
			if (!n["base"] || !n["patched"])
				continue
			base = total["base"] / n["base"]
			patched = total["patched"] / n["patched"]
			df = n["base"] + n["patched"] - 2
			rest = square["base"] - n["base"] * base * base + square["patched"] - n["patched"] * patched * patched
			half = df > 0 ? t95(df) * sqrt((rest > 0 ? rest : 0) / df * (1 / n["base"] + 1 / n["patched"])) : 0
			interval = df > 0 ? "[" percent(patched - base - half) ", " percent(patched - base + half) "]" : "-"
			printf "%10.5g %10.5g %9s  %s  %s\n", exp(base), exp(patched), percent(patched - base), interval, sets[s]
		}
	}'
}

# ---- all of it ----

mkdir -p "$work"
give_series >"$work/series.mbox"
give_config_base >"$work/config-base"
give_config_patched >"$work/config-patched"
give_plan >"$work/plan"
[ -z "$write_only" ] || exit 0

need "$qemu"
need base64
need awk
[ -n "$base_kernel" ] || build_kernels
for kernel in "$base_kernel" "$patched_kernel"; do
	[ -r "$kernel" ] || die "$kernel cannot be read"
done
get_image

echo 'job,arm,boot,pair,host,clock,benchmark,params,run,pass,metric,unit,better,value,boot_start_ns,valid,reason' >"$work/samples.csv"
order=$(echo "$ORDER" | tr -d 'C')
while [ ${#order} -lt $((2 * boots)) ]; do order=$order$order; done
number=0
for arm in $(echo "$order" | head -c $((2 * boots)) | sed 's/A/base /g; s/B/patched /g'); do
	say "boot $((number + 1)) of $((2 * boots)): $arm"
	case $arm in base) kernel=$base_kernel ;; *) kernel=$patched_kernel ;; esac
	start=$(date +%s)
	rm -rf "$work/boot-$number"
	(boot "$number" "$kernel" "$work/boot-$number")
	samples "$arm" "$number" "$start" "$work/boot-$number/results" >>"$work/samples.csv"
	number=$((number + 1))
done

echo "job $JOB of $LAB_URL, run again here: clock $CLOCK, $boots boots of each kernel"
table
echo "Intervals are of each row alone, and take no drift into account. With the lab's statistics:"
echo "  regrlab analyze $work/samples.csv"
