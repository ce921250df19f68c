# SPDX-License-Identifier: Apache-2.0
"""What Alertmanager posts."""


def alert(name="GpuMemoryHigh", severity="warning", status="firing", **more):
    annotations = more.pop("annotations", {"summary": f"{name} of node-1", "description": "memory use at 96 %"})
    return {
        "status": status,
        "labels": {"alertname": name, "severity": severity, "gpu": "0", "instance": "node-1:9400", **more},
        "annotations": annotations,
        "startsAt": "2026-12-02T06:05:07.123Z",
        "endsAt": "2026-12-02T06:17:07.123Z" if status == "resolved" else "0001-01-01T00:00:00Z",
        "generatorURL": "http://prometheus:9090/graph?g0.expr=x&g0.tab=1",
        "fingerprint": "5ef77f1f8a3ecf8d",
    }


def payload(*alerts):
    alerts = alerts or (alert(),)
    firing = any(each["status"] == "firing" for each in alerts)
    return {
        "version": "4",
        "groupKey": '{}:{instance="node-1:9400"}',
        "truncatedAlerts": 0,
        "status": "firing" if firing else "resolved",
        "receiver": "ops",
        "groupLabels": {"instance": "node-1:9400"},
        "commonLabels": {"instance": "node-1:9400"},
        "commonAnnotations": {},
        "externalURL": "http://alertmanager:9093",
        "alerts": list(alerts),
    }
