{{- /* SPDX-License-Identifier: Apache-2.0 */ -}}
{{- define "kscaled.image" -}}
{{- $registry := .Values.image.registry -}}
{{- with .Values.global }}{{ with .image }}{{ $registry = default $registry .registry }}{{ end }}{{ end -}}
{{- with $registry }}{{ . }}/{{ end }}{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end }}

{{- /* The namespaces without blanks. */ -}}
{{- define "kscaled.watched" -}}
{{- .Values.watchNamespace | replace " " "" -}}
{{- end }}

{{- define "kscaled.namespaceSelector" -}}
{{- $watched := include "kscaled.watched" . -}}
{{- if $watched -}}
{matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: {{ splitList "," $watched | toJson }}}]}
{{- else -}}
{}
{{- end }}
{{- end }}

{{- /* KEDA has a count for each of its three programs; here one Pod is all of them, so the largest counts. */ -}}
{{- define "kscaled.replicas" -}}
{{- $count := int .Values.operator.replicaCount -}}
{{- with .Values.metricsServer }}{{ $count = max $count (int .replicaCount) }}{{ end -}}
{{- with .Values.webhooks }}{{ $count = max $count (int .replicaCount) }}{{ end -}}
{{- $count -}}
{{- end }}

{{- /* Whether any kind with a scale sub-resource may be scaled. */ -}}
{{- define "kscaled.everyKind" -}}
{{- $every := false -}}
{{- if .Values.rbac.enabledCustomScaledRefKinds }}
{{- range .Values.rbac.scaledRefKinds }}{{ if eq .kind "*" }}{{ $every = true }}{{ end }}{{ end }}
{{- $every = or $every (not .Values.rbac.scaledRefKinds) -}}
{{- end -}}
{{- $every -}}
{{- end }}

{{- /* The kinds that may be, where not every one may. */ -}}
{{- define "kscaled.kinds" -}}
{{- $kinds := list (dict "apiGroup" "apps" "kind" "deployments") (dict "apiGroup" "apps" "kind" "statefulsets") -}}
{{- if .Values.rbac.enabledCustomScaledRefKinds }}{{ $kinds = concat $kinds .Values.rbac.scaledRefKinds }}{{ end -}}
{{- toYaml $kinds -}}
{{- end }}

{{- define "kscaled.labels" -}}
{{- include "kscaled.ownLabels" . | trim }}
{{- with .Values.additionalLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* Who kscaled is to a cloud, as that cloud's own webhook, or GKE, wants it said. */ -}}
{{- define "kscaled.identityLabels" -}}
{{- if .Values.podIdentity.azureWorkload.enabled }}
azure.workload.identity/use: "true"
{{- end }}
{{- end }}

{{- define "kscaled.identityAnnotations" -}}
{{- with .Values.podIdentity.azureWorkload }}{{ if .enabled }}
azure.workload.identity/service-account-token-expiration: {{ int64 .tokenExpiration | quote }}
{{- with .clientId }}
azure.workload.identity/client-id: {{ . | quote }}
{{- end }}
{{- with .tenantId }}
azure.workload.identity/tenant-id: {{ . | quote }}
{{- end }}
{{- end }}{{ end }}
{{- with .Values.podIdentity.aws.irsa }}{{ if .enabled }}
eks.amazonaws.com/token-expiration: {{ int64 .tokenExpiration | quote }}
{{- with .audience }}
eks.amazonaws.com/audience: {{ . | quote }}
{{- end }}
{{- with .roleArn }}
eks.amazonaws.com/role-arn: {{ . | quote }}
{{- end }}
{{- with .stsRegionalEndpoints }}
eks.amazonaws.com/sts-regional-endpoints: {{ . | quote }}
{{- end }}
{{- end }}{{ end }}
{{- with .Values.podIdentity.gcp }}{{ if and .enabled .gcpIAMServiceAccount }}
iam.gke.io/gcp-service-account: {{ .gcpIAMServiceAccount | quote }}
{{- end }}{{ end }}
{{- end }}

{{- /* GKE's nodes that have the metadata server of its workload identity. */ -}}
{{- define "kscaled.identityNodes" -}}
{{- $key := "iam.gke.io/gke-metadata-server-enabled" }}
{{- if and .Values.podIdentity.gcp.enabled (not (hasKey (default .Values.nodeSelector .Values.operator.nodeSelector) $key)) }}
        {{ $key }}: "true"
{{- end }}
{{- end }}

{{- define "kscaled.accountLabels" -}}
{{- include "kscaled.labels" . }}
{{- include "kscaled.identityLabels" . }}
{{- end }}

{{- define "kscaled.podLabels" -}}
{{- include "kscaled.labels" . }}
{{- with merge (dict) .Values.podLabels.keda (include "kscaled.identityLabels" . | fromYaml) }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* Of an object, below its labels: (list $ kind). */ -}}
{{- define "kscaled.annotations" -}}
{{- $top := index . 0 }}
{{- $more := dict }}
{{- if eq (index . 1) "crd" }}{{ $more = $top.Values.crds.additionalAnnotations }}{{ end }}
{{- if eq (index . 1) "service" }}{{ $more = $top.Values.service.annotations }}{{ end }}
{{- if eq (index . 1) "serviceaccount" }}
{{- $more = merge (dict) $top.Values.serviceAccount.operator.annotations (include "kscaled.identityAnnotations" $top | fromYaml) }}
{{- end }}
{{- with merge (dict) $more $top.Values.additionalAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
{{- end }}
{{- end }}

{{- define "kscaled.podAnnotations" -}}
{{- with merge (dict) .Values.podAnnotations.keda .Values.additionalAnnotations }}
      annotations:
        {{- toYaml . | nindent 8 }}
{{- end }}
{{- end }}

{{- define "kscaled.deploymentMore" -}}
{{- with .Values.operator.revisionHistoryLimit }}{{ if ne (int .) 10 }}
  revisionHistoryLimit: {{ . }}
{{- end }}{{ end }}
{{- with .Values.upgradeStrategy.operator }}
  strategy:
    {{- toYaml . | nindent 4 }}
{{- end }}
{{- end }}

{{- define "kscaled.podMore" -}}
{{- with default .Values.tolerations .Values.operator.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
{{- end }}
{{- with .Values.imagePullSecrets }}
      imagePullSecrets:
        {{- toYaml . | nindent 8 }}
{{- end }}
{{- with .Values.hostAliases }}
      hostAliases:
        {{- toYaml . | nindent 8 }}
{{- end }}
{{- if .Values.operator.useHostNetwork }}
      hostNetwork: true
{{- end }}
{{- with .Values.operator.dnsPolicy }}
      dnsPolicy: {{ . }}
{{- end }}
{{- $dns := dict }}
{{- with .Values.global }}{{ with .dnsConfig }}{{ $dns = . }}{{ end }}{{ end }}
{{- with default $dns .Values.operator.dnsConfig }}
      dnsConfig:
        {{- toYaml . | nindent 8 }}
{{- end }}
{{- with .Values.operator.extraInitContainers }}
      initContainers:
        {{- toYaml . | nindent 6 }}
{{- end }}
{{- end }}

{{- /* Only what differs from kscaled's own defaults. KEDA's console is our text; its numbers are debug. */ -}}
{{- define "kscaled.args" -}}
{{- $level := toString .Values.logging.operator.level }}
{{- if regexMatch "^[0-9]+$" $level }}{{ $level = "debug" }}{{ end }}
{{- if ne $level "info" }}
        - --log-level={{ $level }}
{{- end }}
{{- if eq .Values.logging.operator.format "json" }}
        - --log-format=json
{{- end }}
{{- if ne (int .Values.http.timeout) 3000 }}
        - --http-timeout={{ int .Values.http.timeout }}
{{- end }}
{{- if ne .Values.http.minTlsVersion "TLS12" }}
        - --http-min-tls-version={{ .Values.http.minTlsVersion }}
{{- end }}
{{- with .Values.http.tlsCipherList }}
        - {{ printf "--http-tls-cipher-list=%s" . | quote }}
{{- end }}
{{- if and .Values.podIdentity.gcp.enabled (not (hasKey .Values.extraArgs.keda "cloud-metadata")) }}
        - --cloud-metadata=true
{{- end }}
{{- range $name, $value := .Values.extraArgs.keda }}
        - {{ printf "--%s=%v" $name $value | quote }}
{{- end }}
{{- end }}

{{- define "kscaled.endpointMore" -}}
{{- with .interval }}
    interval: {{ . }}
{{- end }}
{{- with .scrapeTimeout }}
    scrapeTimeout: {{ . }}
{{- end }}
{{- with .relabelings }}
    relabelings:
      {{- toYaml . | nindent 4 }}
{{- end }}
{{- with .metricRelabelings }}
    metricRelabelings:
      {{- toYaml . | nindent 4 }}
{{- end }}
{{- end }}

{{- /* Values that have no effect, a line each: (dict "values" .Values "known" the tree "path" ""). */ -}}
{{- define "kscaled.warnings" -}}
{{- $known := .known }}{{ $path := .path }}
{{- range $name, $value := .values }}
{{- $here := printf "%s%s" $path $name }}
{{- if not (hasKey $known $name) }}
  {{ $here }}: no such value, it has no effect
{{- else if kindIs "map" (get $known $name) }}
{{- if kindIs "map" $value }}
{{- include "kscaled.warnings" (dict "values" $value "known" (get $known $name) "path" (printf "%s." $here)) }}
{{- end }}
{{- else if and (get $known $name) (not (kindIs "invalid" $value)) }}
  {{ $here }}: has no effect, {{ get $known $name }}
{{- end }}
{{- end }}
{{- end }}
