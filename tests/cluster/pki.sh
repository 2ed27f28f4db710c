# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Sourced by up: the certificates and kubeconfigs of a control plane directory.

# make_pki: everything below $dir/pki ($dir is the caller's). Two authorities, as
# in a real cluster: one for servers and users, one that vouches only for the
# aggregator's identity. etcd's JSON gateway is a client of etcd itself, under the
# same certificate. $address, where it is not empty, is the API server's for nodes.
make_pki() {
	local pki=${dir:?}/pki
	local names=DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc
	mkdir -m 700 "$pki" &&
		# No extensions but those named here: the system's openssl.cnf adds CA:true.
		printf '[req]\ndistinguished_name=dn\n[dn]\n' >"$pki/openssl.cnf" &&
		authority ca kscaled-test-ca &&
		authority front-proxy-ca kscaled-test-front-proxy-ca &&
		certificate ca etcd /CN=etcd serverAuth,clientAuth DNS:localhost,IP:127.0.0.1 &&
		certificate ca apiserver /CN=kube-apiserver serverAuth \
			"$names,IP:127.0.0.1,IP:10.96.0.1${address:+,IP:$address}" &&
		certificate ca controller-manager-serving /CN=kube-controller-manager serverAuth \
			DNS:localhost,IP:127.0.0.1 &&
		certificate ca controller-manager /CN=system:kube-controller-manager clientAuth &&
		certificate ca kwok /O=system:masters/CN=kwok clientAuth &&
		certificate ca kube-scheduler /CN=system:kube-scheduler clientAuth &&
		certificate ca admin /O=system:masters/CN=admin clientAuth &&
		certificate front-proxy-ca front-proxy-client /CN=front-proxy-client clientAuth &&
		openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$pki/sa.key" &&
		openssl pkey -in "$pki/sa.key" -pubout -out "$pki/sa.pub"
}

# authority NAME COMMON_NAME
authority() {
	request "$1" -subj "/CN=$2" -addext basicConstraints=critical,CA:true \
		-addext keyUsage=critical,keyCertSign,cRLSign -addext subjectKeyIdentifier=hash
}

# certificate AUTHORITY NAME SUBJECT USAGES [ALTERNATIVE_NAMES]
certificate() {
	local pki=$dir/pki
	request "$2" -CA "$pki/$1.crt" -CAkey "$pki/$1.key" -subj "$3" \
		-addext basicConstraints=critical,CA:false -addext keyUsage=critical,digitalSignature \
		-addext "extendedKeyUsage=$4" -addext authorityKeyIdentifier=keyid \
		${5+-addext "subjectAltName=$5"}
}

# Three days old, where faketime is: for who comes with a clock that is behind. It fails where a process of
# its ID has left a semaphore: another attempt has another ID.
aged() {
	local attempt
	if ! command -v faketime >/dev/null; then
		"$@"
		return
	fi
	for attempt in 1 2 3; do
		! faketime -f -3d "$@" || return 0
	done
	echo "faketime failed $attempt times" >&2
	return 1
}

request() {
	local name=$1
	shift
	aged openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days 3650 \
		-config "$dir/pki/openssl.cnf" -keyout "$dir/pki/$name.key" -out "$dir/pki/$name.crt" \
		"$@" 2>"$dir/pki/openssl.log" || { cat "$dir/pki/openssl.log" >&2; return 1; }
}

# kubeconfig USER FILE: with everything inside it, so that it may be copied away.
kubeconfig() {
	local pki=$dir/pki
	(umask 077 && cat >"$2") <<EOF
apiVersion: v1
kind: Config
clusters:
- name: kscaled-test
  cluster:
    server: $KUBE_SERVER
    certificate-authority-data: $(base64 -w 0 "$pki/ca.crt")
users:
- name: $1
  user:
    client-certificate-data: $(base64 -w 0 "$pki/$1.crt")
    client-key-data: $(base64 -w 0 "$pki/$1.key")
contexts:
- name: kscaled-test
  context:
    cluster: kscaled-test
    user: $1
current-context: kscaled-test
EOF
}
