{{- define "agent-service.name" -}}
{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "agent-service.selector" -}}
app.kubernetes.io/name: agent-service
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "agent-service.labels" -}}
{{ include "agent-service.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "agent-service.serviceAccount" -}}
{{ default (ternary (include "agent-service.name" .) "default" .Values.serviceAccount.create) .Values.serviceAccount.name }}
{{- end }}

{{- define "agent-service.image" -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end }}

{{/* What every pod has: the user, and nothing that a process does not need. */}}
{{- define "agent-service.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "agent-service.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* Helm reads numbers of a values file as floats, which are printed with an exponent from seven digits on. */}}
{{- define "agent-service.text" -}}
{{- if and (kindIs "float64" .) (eq . (floor .)) }}{{ printf "%.0f" . }}{{ else }}{{ . }}{{ end }}
{{- end }}

{{- define "agent-service.env" -}}
env:
  - name: METRICS_PORT
    value: {{ .Values.metricsPort | quote }}
  {{- range $name, $value := .Values.settings }}
  - name: {{ $name }}
    value: {{ include "agent-service.text" $value | quote }}
  {{- end }}
envFrom:
  - secretRef:
      name: {{ required "existingSecret: name the secret with DATABASE_URL, REDIS_URL and SECRETS_KEY" .Values.existingSecret }}
{{- end }}

{{- define "agent-service.volumeMounts" -}}
volumeMounts:
  - name: data
    mountPath: /data
  - name: tmp
    mountPath: /tmp
  {{- if .Values.files.existingClaim }}
  - name: files
    mountPath: /data/files
  {{- end }}
{{- end }}

{{- define "agent-service.volumes" -}}
volumes:
  - name: data
    emptyDir: {}
  - name: tmp
    emptyDir: {}
  {{- if .Values.files.existingClaim }}
  - name: files
    persistentVolumeClaim:
      claimName: {{ .Values.files.existingClaim }}
  {{- end }}
{{- end }}

{{/* SHUTDOWN_SECONDS, with the time to store what there is, and a reserve. */}}
{{- define "agent-service.gracePeriod" -}}
{{ add (int (default 25 .Values.settings.SHUTDOWN_SECONDS)) 10 }}
{{- end }}

{{/* Refuses values that can never run, also where the schema cannot see it. */}}
{{- define "agent-service.check" -}}
{{- if not (or .Values.files.existingClaim .Values.settings.FILES_S3_BUCKET) }}
{{- fail "settings.FILES_S3_BUCKET or files.existingClaim: name where uploaded files are kept; a pod's own disk is lost with the pod" }}
{{- end }}
{{- range $role := list "api" "worker" }}
{{- $autoscaling := (index $.Values $role).autoscaling }}
{{- if and $autoscaling.enabled (gt (int $autoscaling.minReplicas) (int $autoscaling.maxReplicas)) }}
{{- fail (printf "%s.autoscaling.minReplicas: must be at most maxReplicas" $role) }}
{{- end }}
{{- end }}
{{- end }}
