{{- define "riffle.labels" -}}
{{ include "riffle.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "riffle.selector" -}}
app.kubernetes.io/name: riffle
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "riffle.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{/* Every container runs without privileges, on a file system that it cannot write. */}}
{{- define "riffle.confined" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{/* Where a container finds the keys. */}}
{{- define "riffle.keys" -}}
{{- if .Values.keys }}
- {name: RIFFLE_KEY_FILE, value: /keys/log.key}
- {name: RIFFLE_SEED_KEY_FILE, value: /keys/seed.key}
{{- end }}
{{- with .Values.env }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The pod of either store. */}}
{{- define "riffle.pod" -}}
metadata:
  labels: {{- include "riffle.labels" . | nindent 4 }}
  annotations:
    checksum/config: {{ toYaml .Values.config | sha256sum }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: 45
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: {type: RuntimeDefault}
  {{- if eq .Values.store "postgres" }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels: {{- include "riffle.selector" . | nindent 10 }}
  {{- end }}
  containers:
    - name: riffle
      image: {{ include "riffle.image" . }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      securityContext: {{- include "riffle.confined" . | nindent 8 }}
      ports:
        - {name: http, containerPort: 8080}
        - {name: admin, containerPort: 9090}
      env:
        - {name: RIFFLE_CONFIG, value: /etc/riffle/riffle.yaml}
        - {name: RIFFLE_ADMIN_ADDR, value: ":9090"}
        - {name: RIFFLE_DRAIN, value: 5s}
        {{- if eq .Values.store "postgres" }}
        - {name: RIFFLE_STORE, value: {{ required "postgres.url is required with store: postgres" .Values.postgres.url | quote }}}
        {{- with .Values.postgres.password.secret }}
        - name: PGPASSWORD
          valueFrom:
            secretKeyRef: {name: {{ . }}, key: {{ $.Values.postgres.password.key }}}
        {{- end }}
        {{- end }}
        {{- with include "riffle.keys" . | trim }}
        {{- nindent 8 . }}
        {{- end }}
      startupProbe:
        httpGet: {path: /healthz, port: admin}
        periodSeconds: 2
        failureThreshold: 150
      livenessProbe:
        httpGet: {path: /healthz, port: admin}
        periodSeconds: 10
      readinessProbe:
        httpGet: {path: /readyz, port: admin}
        periodSeconds: 2
      resources: {{- toYaml .Values.resources | nindent 8 }}
      volumeMounts:
        - {name: data, mountPath: /data}
        - {name: config, mountPath: /etc/riffle, readOnly: true}
        {{- if .Values.keys }}
        - {name: keys, mountPath: /keys, readOnly: true}
        {{- end }}
    {{- if and (eq .Values.store "sqlite") .Values.sqlite.backup.enabled }}
    - name: backup
      image: {{ include "riffle.image" . }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      command: [/riffle, backup, --data, /data, --to, /backup/log, --follow]
      {{- with include "riffle.keys" . | trim }}
      env: {{- nindent 8 . }}
      {{- end }}
      securityContext: {{- include "riffle.confined" . | nindent 8 }}
      resources:
        requests: {cpu: 50m, memory: 128Mi}
        limits: {memory: 256Mi}
      volumeMounts:
        - {name: data, mountPath: /data}
        - {name: backup, mountPath: /backup}
        {{- if .Values.keys }}
        - {name: keys, mountPath: /keys, readOnly: true}
        {{- end }}
    {{- end }}
  volumes:
    - name: config
      configMap: {name: {{ .Release.Name }}}
    {{- if .Values.keys }}
    - name: keys
      secret: {secretName: {{ .Values.keys }}, defaultMode: 0440}
    {{- end }}
    {{- if eq .Values.store "postgres" }}
    - name: data # the last checkpoint that this replica saw
      emptyDir: {sizeLimit: 64Mi}
    {{- end }}
{{- end }}

{{- define "riffle.claim" -}}
- metadata:
    name: {{ .name }}
  spec:
    accessModes: [ReadWriteOnce]
    {{- with .of.storageClass }}
    storageClassName: {{ . }}
    {{- end }}
    resources:
      requests: {storage: {{ .of.size }}}
{{- end }}
