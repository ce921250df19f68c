# SPDX-License-Identifier: Apache-2.0
"""For those who come from dcgm-exporter: the queries that are used everywhere with its names, as they
stand. Needs the job `dcgm` of deploy/prometheus/prometheus.yml."""

from model import Board, Panel, Query, Row, menus

# The labels as NVIDIA's own dashboard chooses by them.
CHOSEN = '{instance=~"${instance}", gpu=~"${gpu}"}'
GPU = "GPU {{gpu}}"


def pair(title, mean_title, expr, mean, unit, **more):
    """A curve for each GPU and a dial for all of them."""
    return (
        Panel(title, (Query(expr, GPU),), unit, width=18, **more),
        Panel(mean_title, (Query(mean, instant=True),), unit, kind="gauge", width=6, **more),
    )


TRAINING = (
    Panel(
        ("GPU utilization", "GPU 利用率"),
        (Query('dcgm_gpu_utilization{gpu=~"$gpu"}', GPU),),
        "percent",
        low=0,
        high=100,
        width=8,
    ),
    Panel(
        ("Memory use", "显存使用率"),
        (Query('(dcgm_fb_used{gpu=~"$gpu"} / dcgm_fb_total{gpu=~"$gpu"}) * 100', GPU),),
        "percent",
        steps=((None, "green"), (90, "red")),
        low=0,
        high=100,
        width=8,
    ),
    Panel(
        ("Temperature", "温度"),
        (Query('dcgm_temperature_gpu{gpu=~"$gpu"}', GPU),),
        "celsius",
        steps=((None, "green"), (85, "red")),
        width=8,
    ),
    Panel(
        ("Mean utilization of each machine", "各机器平均利用率"),
        (Query("avg by (instance) (dcgm_gpu_utilization)", "{{instance}}"),),
        "percent",
        low=0,
        high=100,
        width=8,
    ),
    Panel(("Power", "功耗"), (Query("dcgm_power_usage", GPU),), "watt", low=0, width=8),
    Panel(
        ("ECC errors", "ECC 错误"),
        (Query("dcgm_ecc_error_count_total", GPU),),
        "short",
        low=0,
        width=8,
    ),
)

BOARD = Board(
    "dcgm",
    ("Everywatt: the names of dcgm-exporter", "Everywatt：dcgm-exporter 的指标名"),
    (
        "Old dashboards go on working: here their usual queries, served by Everywatt.",
        "原有仪表盘可继续使用：这里是其常用查询，由 Everywatt 提供数据。",
    ),
    (
        Row(
            ("DCGM_FI_...", "DCGM_FI_..."),
            (
                *pair(
                    ("GPU temperature", "GPU 温度"),
                    ("Mean temperature", "平均温度"),
                    f"DCGM_FI_DEV_GPU_TEMP{CHOSEN}",
                    f"avg(DCGM_FI_DEV_GPU_TEMP{CHOSEN})",
                    "celsius",
                    steps=((None, "green"), (83, "orange"), (87, "red")),
                ),
                *pair(
                    ("GPU power", "GPU 功耗"),
                    ("Total power", "总功耗"),
                    f"DCGM_FI_DEV_POWER_USAGE{CHOSEN}",
                    f"sum(DCGM_FI_DEV_POWER_USAGE{CHOSEN})",
                    "watt",
                    low=0,
                ),
                Panel(
                    ("SM clock", "SM 时钟"),
                    (Query(f"DCGM_FI_DEV_SM_CLOCK{CHOSEN} * 1000000", GPU),),
                    "hertz",
                    low=0,
                ),
                Panel(
                    ("GPU utilization", "GPU 利用率"),
                    (Query(f"DCGM_FI_DEV_GPU_UTIL{CHOSEN}", GPU),),
                    "percent",
                    low=0,
                    high=100,
                ),
                Panel(
                    ("Tensor cores", "张量核心"),
                    (Query(f"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{CHOSEN}", GPU),),
                    "percentunit",
                    low=0,
                    high=1,
                    without_gpm=Panel(
                        ("GPU utilization in place of the tensor cores", "以 GPU 利用率代替张量核心"),
                        (Query(f"DCGM_FI_DEV_GPU_UTIL{CHOSEN}", GPU),),
                        "percent",
                        low=0,
                        high=100,
                    ),
                ),
                Panel(
                    ("Memory in use", "已用显存"),
                    (Query(f"DCGM_FI_DEV_FB_USED{CHOSEN}", GPU),),
                    "mbytes",
                    low=0,
                ),
            ),
        ),
        Row(("dcgm_...", "dcgm_..."), TRAINING),
    ),
    variables=menus("DCGM_FI_DEV_GPU_TEMP"),
    xids=False,
)
