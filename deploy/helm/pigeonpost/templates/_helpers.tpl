{{- define "pigeonpost.labels" -}}
app.kubernetes.io/name: pigeonpost
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "pigeonpost.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{/* A deployment of one component: a dictionary with root, component, settings, args and port (name and number). */}}
{{- define "pigeonpost.deployment" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .root.Release.Name }}-{{ .component }}
  labels:
    {{- include "pigeonpost.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
    app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
spec:
  replicas: {{ .settings.replicas }}
  selector:
    matchLabels:
      {{- include "pigeonpost.labels" .root | nindent 6 }}
      app.kubernetes.io/component: {{ .component }}
  strategy:
    rollingUpdate: { maxUnavailable: {{ .maxUnavailable }}, maxSurge: 1 }
  template:
    metadata:
      labels:
        {{- include "pigeonpost.labels" .root | nindent 8 }}
        app.kubernetes.io/component: {{ .component }}
      annotations:
        checksum/configuration: {{ .root.Values.configuration | sha256sum }}
    spec:
      automountServiceAccountToken: false
      terminationGracePeriodSeconds: 20
      {{- with .root.Values.imagePullSecrets }}
      imagePullSecrets:
        {{- range . }}
        - name: {{ . }}
        {{- end }}
      {{- end }}
      securityContext:
        runAsNonRoot: true
        runAsUser: 1000
        runAsGroup: 1000
        fsGroup: 1000
        seccompProfile: { type: RuntimeDefault }
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              {{- include "pigeonpost.labels" .root | nindent 14 }}
              app.kubernetes.io/component: {{ .component }}
      containers:
        - name: {{ .component }}
          image: {{ include "pigeonpost.image" .root | quote }}
          imagePullPolicy: {{ .root.Values.image.pullPolicy }}
          args: {{ toJson .args }}
          envFrom:
            - secretRef: { name: {{ .root.Values.secretName }} }
          ports:
            - { name: {{ .port.name }}, containerPort: {{ .port.number }} }
          readinessProbe:
            httpGet: { path: /readyz, port: {{ .port.name }} }
            periodSeconds: 5
            timeoutSeconds: 5
          livenessProbe:
            httpGet: { path: /healthz, port: {{ .port.name }} }
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 6
          resources:
            {{- toYaml .settings.resources | nindent 12 }}
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities: { drop: [ALL] }
          volumeMounts:
            - { name: configuration, mountPath: /etc/pigeonpost, readOnly: true }
            - { name: temporary, mountPath: /tmp }
      volumes:
        - name: configuration
          configMap: { name: {{ .root.Release.Name }} }
        - name: temporary
          emptyDir: { sizeLimit: {{ .root.Values.temporarySize }} }
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .root.Release.Name }}-{{ .component }}
  labels:
    {{- include "pigeonpost.labels" .root | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- include "pigeonpost.labels" .root | nindent 6 }}
      app.kubernetes.io/component: {{ .component }}
{{- end }}
