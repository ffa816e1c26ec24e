{{- define "entity-service.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "entity-service.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "entity-service.labels" -}}
{{ include "entity-service.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "entity-service.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "entity-service.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "entity-service.name" .) }}
{{- end }}

{{/* What the service and the migration have in common. */}}
{{- define "entity-service.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "entity-service.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* The variables from Secrets: a dictionary of names with their references, of which those without a name are left out. */}}
{{- define "entity-service.secretVariables" -}}
{{- range $name, $reference := . }}
{{- if $reference.name }}
- name: {{ $name }}
  valueFrom: { secretKeyRef: { name: {{ $reference.name }}, key: {{ $reference.key }} } }
{{- end }}
{{- end }}
{{- end }}
