# SPDX-License-Identifier: Apache-2.0
#
# Turns manifest templates into C, one array per file: src/cli/manifests/rbac-own.yaml becomes manifests_rbac_own.
#
#   awk -v top=DIRECTORY -f embed.awk FILE...       (the files are looked for below DIRECTORY)
#
# A line "%include NAME" is replaced by the file NAME.yaml beside the one that says so, indented like that line. Lines that begin with ## are left out.

function fail(text) {
	print "embed.awk: " text > "/dev/stderr"
	failed = 1
	exit 1
}

function emit(file, indent, depth,    folder, line, lead, status) {
	if (depth > 8)
		fail(file ": included by itself")
	folder = file
	sub(/[^\/]*$/, "", folder)
	while ((status = (getline line < file)) > 0) {
		if (line ~ /^##/)
			continue
		match(line, /^ */)
		lead = indent substr(line, 1, RLENGTH)
		line = substr(line, RLENGTH + 1)
		if (line ~ /^%include /) {
			emit(folder substr(line, 10) ".yaml", lead, depth + 1)
			continue
		}
		gsub(/\\/, "&&", line)
		gsub(/"/, "\\\"", line)
		print "\t\"" lead line "\\n\""
	}
	if (status < 0)
		fail(file ": cannot be read")
	close(file)
}

BEGIN {
	print "/* Written by embed.awk from the templates in src/cli/manifests: do not edit. */"
	print "#include \"cli/manifests_text.h\""
	for (i = 1; i < ARGC; i++) {
		name = ARGV[i]
		sub(/.*\//, "", name)
		sub(/\.yaml$/, "", name)
		gsub(/-/, "_", name)
		print "\nconst char manifests_" name "[] ="
		emit(top "/" ARGV[i], "", 0)
		print "\t\"\";"
	}
	exit failed
}
