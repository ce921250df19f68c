# SPDX-License-Identifier: Apache-2.0
"""Every sample of the driver, however seldom Prometheus scrapes."""

from model import Board, Panel, Query, Row, menus


def heat(title, series, unit, about, **more):
    return Panel(
        title,
        (
            Query(
                f"sum by (le) (increase({series}_bucket{{@gpu}}[$__rate_interval]))",
                "{{le}}",
                form="heatmap",
            ),
        ),
        unit,
        about,
        kind="heatmap",
        width=12,
        height=9,
        repeat="gpu",
        **more,
    )


UTILIZATION = heat(
    ("Utilization, GPU $gpu", "利用率，GPU $gpu"),
    "gpu_utilization_sampled_ratio",
    "percentunit",
    (
        "How often each utilization was seen, from every refresh of the driver. Two bands, one high and "
        "one low, are a GPU that waits for its input again and again.",
        "每个利用率出现的频次，取自驱动的每次刷新。一高一低两条带，说明 GPU 反复等待输入。",
    ),
)
POWER = heat(
    ("Power, GPU $gpu", "功耗，GPU $gpu"),
    "gpu_power_sampled_watts",
    "watt",
    (
        "From the driver's buffer of 20.7 ms samples; a tenth of the limit is one step.",
        "来自驱动的 20.7 毫秒样本缓冲；每格为功耗上限的十分之一。",
    ),
)
SM = heat(
    ("SM activity, GPU $gpu", "SM 活跃度，GPU $gpu"),
    "gpu_sm_active_sampled_ratio",
    "percentunit",
    (
        "From each window of the performance counters: needs Hopper or newer.",
        "取自性能计数器的每个窗口：需要 Hopper 或更新。",
    ),
    without_gpm=heat(
        ("Utilization where SMs are not counted, GPU $gpu", "不统计 SM 时的利用率，GPU $gpu"),
        "gpu_utilization_sampled_ratio",
        "percentunit",
        (
            "The driver's figure, which counts any kernel: look at power beside it.",
            "驱动的数字，任何内核都计入：请结合功耗判断。",
        ),
    ),
)

BOARD = Board(
    "heatmaps",
    ("Everywatt: heat maps", "Everywatt：热力图"),
    (
        "What averages hide: one observation for each refresh of the driver, at any scrape interval.",
        "平均值掩盖的内容：无论抓取间隔多长，驱动每次刷新都计为一次观测。",
    ),
    (
        Row(("Utilization", "利用率"), (UTILIZATION,)),
        Row(("SM activity", "SM 活跃度"), (SM,)),
        Row(("Power", "功耗"), (POWER,)),
    ),
    variables=menus("gpu_up"),
)
