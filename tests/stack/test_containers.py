# SPDX-License-Identifier: Apache-2.0
"""What is shipped for docker compose and Kubernetes: neither runs here, so schemas and rules judge it."""

import re
import subprocess
from pathlib import Path

import kubernetes_validate
import program
import pytest
import servers
import test_systemd
import yaml
from compose_spec import PyCompose

COMPOSE = servers.DEPLOY / "compose/compose.yaml"
KUBERNETES = servers.DEPLOY / "kubernetes"
VERSIONS = ("1.30", "1.33", "1.37")


class Strict(yaml.SafeLoader):
    """YAML without keys that are given twice."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key, deep) for key, _ in node.value]
        assert len(set(keys)) == len(keys), f"{node.start_mark}: a key is given twice in {keys}"
        return super().construct_mapping(node, deep)


def load(file: Path):
    return yaml.load(file.read_text(), Strict)


@pytest.fixture
def compose() -> dict:
    return load(COMPOSE)


def service(compose: dict, name: str) -> dict:
    return compose["services"][name]


def test_a_strict_parser_of_the_compose_specification_takes_it():
    parsed = PyCompose.from_yaml(COMPOSE.read_text())
    assert set(parsed.service_names()) == {"everywatt", "prometheus", "alertmanager", "grafana"}


def test_every_image_is_of_one_version(compose):
    for name, each in compose["services"].items():
        assert re.fullmatch(r"[a-z/]+:v?\d+\.\d+\.\d+", each["image"]), name


def test_nothing_is_privileged_and_nothing_listens_beyond_the_machine(compose):
    for name, each in compose["services"].items():
        assert "privileged" not in each and each["cap_drop"] == ["ALL"], name
        assert "no-new-privileges:true" in each["security_opt"], name
        assert "ports" not in each, name
    for name in ("prometheus", "alertmanager"):
        listens = [word for word in service(compose, name)["command"] if "web.listen-address" in word]
        assert len(listens) == 1 and "=127.0.0.1:" in listens[0]
    assert 'listen = "127.0.0.1:' in (COMPOSE.parent / "everywatt.toml").read_text()


def test_grafana_wants_a_login(compose):
    variables = service(compose, "grafana")["environment"]
    assert variables["GF_SERVER_HTTP_ADDR"] == "127.0.0.1"
    assert variables["GF_AUTH_ANONYMOUS_ENABLED"] == "false"
    assert variables["GF_SECURITY_ADMIN_PASSWORD__FILE"] == "/run/secrets/grafana_password"
    assert "GF_SECURITY_ADMIN_PASSWORD" not in variables


def test_everywatt_gets_the_gpus_and_the_rights_of_the_unit(compose):
    everywatt = service(compose, "everywatt")
    (gpus,) = everywatt["deploy"]["resources"]["reservations"]["devices"]
    assert (gpus["driver"], gpus["count"]) == ("nvidia", "all")
    assert {name.lower() for name in everywatt["cap_add"]} == set(test_systemd.capabilities())


def test_what_is_mounted_is_there(compose):
    for name, each in compose["services"].items():
        for mount in each["volumes"]:
            if mount["type"] == "volume":
                assert mount["source"] in compose["volumes"], name
            elif mount["source"].startswith("."):
                assert (COMPOSE.parent / mount["source"]).exists(), mount["source"]
                assert mount["read_only"], mount["source"]
        for secret in each.get("secrets", []):
            assert (secret if isinstance(secret, str) else secret["source"]) in compose["secrets"], name


def test_the_secrets_are_made_once_and_differ(tmp_path):
    script = tmp_path / "make-secrets"
    script.write_text((COMPOSE.parent / "make-secrets").read_text())
    script.chmod(0o755)

    def made():
        subprocess.run([script], check=True, capture_output=True, timeout=60)
        return {file.name: file.read_text() for file in (tmp_path / "secrets").iterdir()}

    first = made()
    assert set(first) == set(load(COMPOSE)["secrets"])
    assert made() == first
    assert len(first["grafana_password"]) > 20
    assert first["grafana_password"] != first["receiver_token"]
    assert (tmp_path / "secrets").stat().st_mode & 0o777 == 0o700


def manifests() -> dict[str, dict]:
    return {file.name: load(file) for file in sorted(KUBERNETES.glob("*.yaml"))}


@pytest.mark.parametrize("version", VERSIONS)
def test_kubernetes_schemas_take_the_manifests(version):
    checked = 0
    for name, manifest in manifests().items():
        # The kinds that Kubernetes itself does not bring.
        if manifest["kind"] in ("ServiceMonitor", "Kustomization"):
            continue
        kubernetes_validate.validate(manifest, version, strict=True)
        checked += 1
        assert manifest["kind"] == "Namespace" or manifest["metadata"]["namespace"] == "everywatt", name
    assert checked == 6


def test_every_manifest_is_applied():
    listed = manifests()["kustomization.yaml"]["resources"]
    assert {*listed, "kustomization.yaml"} == set(manifests())


def test_the_pods_have_the_least_that_they_need():
    spec = manifests()["daemonset.yaml"]["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    context = container["securityContext"]
    assert not context["privileged"] and not context["allowPrivilegeEscalation"]
    assert context["readOnlyRootFilesystem"]
    assert context["capabilities"]["drop"] == ["ALL"]
    added = {name.lower() for name in context["capabilities"]["add"]}
    assert added == set(test_systemd.capabilities()) - {"syslog"}
    assert not spec["automountServiceAccountToken"] and "hostNetwork" not in spec
    writable = {m["name"] for m in container["volumeMounts"] if not m.get("readOnly")}
    assert writable == {"run", "control", "data", "tmp"}
    assert {m["name"] for m in container["volumeMounts"]} == {v["name"] for v in spec["volumes"]}
    # No GPU is taken from those who work.
    assert "nvidia.com/gpu" not in str(container["resources"])


def test_services_and_monitors_find_the_pods():
    found = manifests()
    labels = found["daemonset.yaml"]["spec"]["template"]["metadata"]["labels"]
    assert found["daemonset.yaml"]["spec"]["selector"]["matchLabels"].items() <= labels.items()
    assert found["service.yaml"]["spec"]["selector"].items() <= labels.items()
    assert found["networkpolicy.yaml"]["spec"]["podSelector"]["matchLabels"].items() <= labels.items()
    monitor = found["servicemonitor.yaml"]["spec"]
    assert monitor["selector"]["matchLabels"].items() <= found["service.yaml"]["metadata"]["labels"].items()
    ports = {port["name"] for port in found["service.yaml"]["spec"]["ports"]}
    jobs = load(servers.DEPLOY / "prometheus/prometheus.yml")["scrape_configs"]
    assert [endpoint["params"] for endpoint in monitor["endpoints"]] == [job["params"] for job in jobs]
    for endpoint, job in zip(monitor["endpoints"], jobs, strict=True):
        assert endpoint["port"] in ports
        assert {"targetLabel": "job", "replacement": job["job_name"]} in endpoint["relabelings"]


@pytest.mark.parametrize("where", ["compose", "kubernetes"])
def test_the_program_takes_the_configuration(where, tmp_path):
    text = (COMPOSE.parent / "everywatt.toml").read_text()
    if where == "kubernetes":
        text = manifests()["configmap.yaml"]["data"]["everywatt.toml"]
    file = tmp_path / "everywatt.toml"
    file.write_text(text)
    program.run("check-config", file, code=0)
