# SPDX-License-Identifier: Apache-2.0
"""Everything about one GPU. MIG instances are lines of their own where they have the reading."""

from model import Board, Panel, Query, Row, menus

MIG = " {{gpu_instance}}"
THIRD = 8


def curve(title, unit, *queries, about=("", ""), **more):
    return Panel(title, tuple(queries), unit, about, **{"width": THIRD, "low": 0} | more)


USE = (
    curve(
        ("Utilization", "利用率"),
        "percentunit",
        Query("gpu_utilization_ratio{@gpu}", ("kernels", "内核")),
        Query("gpu_memory_controller_active_ratio{@gpu}", ("memory controller", "显存控制器")),
        Query("gpu_encoder_utilization_ratio{@gpu}", ("encoder", "编码器")),
        Query("gpu_decoder_utilization_ratio{@gpu}", ("decoder", "解码器")),
        about=(
            "The driver's figures: shares of time, not of the hardware.",
            "驱动给出的数字：时间占比，而非硬件占比。",
        ),
        high=1,
    ),
    curve(
        ("SM activity and occupancy", "SM 活跃度与占用率"),
        "percentunit",
        Query("gpu_sm_active_ratio{@gpu}", ("active" + MIG, "活跃" + MIG)),
        Query("gpu_sm_occupancy_ratio{@gpu}", ("occupancy" + MIG, "占用" + MIG)),
        high=1,
        without_gpm=curve(
            ("Utilization, sampled", "采样利用率"),
            "percentunit",
            *(
                Query(
                    f"histogram_quantile({q}, sum by (le) (rate(gpu_utilization_sampled_ratio_bucket"
                    "{@gpu}[$__rate_interval])))",
                    name,
                )
                for q, name in ((0.05, "5 %"), (0.5, "50 %"), (0.95, "95 %"))
            ),
            about=(
                "Quantiles of all samples of the driver between two scrapes: their spread tells a "
                "steady load from bursts.",
                "两次抓取之间驱动全部样本的分位数：分散程度反映负载是平稳还是突发。",
            ),
            high=1,
        ),
    ),
    curve(
        ("Pipes", "运算单元"),
        "percentunit",
        Query("gpu_tensor_active_ratio{@gpu}", ("tensor" + MIG, "张量" + MIG)),
        Query("gpu_fp64_active_ratio{@gpu}", "FP64" + MIG),
        Query("gpu_fp32_active_ratio{@gpu}", "FP32" + MIG),
        Query("gpu_fp16_active_ratio{@gpu}", "FP16" + MIG),
        Query("gpu_integer_active_ratio{@gpu}", ("integer" + MIG, "整数" + MIG)),
        high=1,
        without_gpm=curve(
            ("Power and clock, as shares of their limits", "功耗与时钟占上限的比例"),
            "percentunit",
            Query("gpu_power_watts{@gpu} / gpu_power_limit_enforced_watts{@gpu}", ("power", "功耗")),
            Query("gpu_sm_clock_hertz{@gpu} / gpu_sm_clock_max_hertz{@gpu}", ("SM clock", "SM 时钟")),
            about=(
                "High power at a full clock is dense work; a full clock at low power waits.",
                "满频且高功耗表示计算密集；满频而低功耗表示在等待。",
            ),
        ),
    ),
)

MEMORY = (
    curve(
        ("Memory", "显存"),
        "bytes",
        Query("gpu_memory_used_bytes{@gpu}", ("used" + MIG, "已用" + MIG)),
        Query("gpu_memory_reserved_bytes{@gpu}", ("reserved" + MIG, "自留" + MIG)),
        Query("gpu_memory_total_bytes{@gpu}", ("total" + MIG, "总量" + MIG)),
    ),
    curve(
        ("Memory by process", "各进程显存"),
        "bytes",
        Query("gpu_process_memory_bytes{@gpu}", ("pid {{pid}}", "进程 {{pid}}")),
        Query("gpu_memory_unattributed_bytes{@gpu}", ("nobody's" + MIG, "无归属" + MIG)),
        about=("`everywatt processes` names them.", "`everywatt processes` 可查看名称。"),
        stacked=True,
    ),
    curve(
        ("Memory bandwidth", "显存带宽"),
        "percentunit",
        Query("gpu_dram_active_ratio{@gpu}", ("DRAM" + MIG, "DRAM" + MIG)),
        about=(
            "Share of the cycles in which memory moved data.",
            "显存有数据传输的周期占比。",
        ),
        high=1,
        without_gpm=curve(
            ("Memory controller", "显存控制器"),
            "percentunit",
            Query("gpu_memory_controller_active_ratio{@gpu}", ("busy", "忙碌")),
            about=(
                "Share of time in which memory was read or written at all.",
                "显存被读写的时间占比。",
            ),
            high=1,
        ),
    ),
)

POWER = (
    curve(
        ("Power", "功耗"),
        "watt",
        Query("gpu_power_watts{@gpu}", ("mean of a second", "一秒平均")),
        Query("gpu_power_instant_watts{@gpu}", ("now", "瞬时")),
        Query("gpu_power_limit_enforced_watts{@gpu}", ("limit", "上限")),
    ),
    curve(
        ("Energy in each hour", "每小时能耗"),
        "joule",
        Query("increase(gpu_energy_accumulated_joules_total{@gpu}[1h])", ("energy", "能耗")),
        about=("From the GPU's own meter.", "来自 GPU 自身的计量。"),
    ),
    curve(
        ("Temperature", "温度"),
        "celsius",
        Query("gpu_temperature_celsius{@gpu}", ("chip", "芯片")),
        Query("gpu_memory_temperature_celsius{@gpu}", ("memory", "显存")),
        Query("gpu_temperature_slowdown_celsius{@gpu}", ("slows down at", "降频温度")),
        low=None,
    ),
    curve(
        ("Clocks", "时钟"),
        "hertz",
        Query("gpu_sm_clock_hertz{@gpu}", "SM"),
        Query("gpu_memory_clock_hertz{@gpu}", ("memory", "显存")),
        Query("gpu_video_clock_hertz{@gpu}", ("video", "视频")),
    ),
    curve(
        ("Why the clocks are low", "时钟受限原因"),
        "percentunit",
        Query("rate(gpu_clock_event_seconds_total{@gpu}[$__rate_interval]) > 0", "{{reason}}"),
        about=(
            "Share of time for each reason that the driver gives. Some go together.",
            "驱动给出的每个原因的时间占比。有些会同时出现。",
        ),
    ),
    curve(
        ("Fans", "风扇"),
        "percentunit",
        Query("gpu_fan_speed_ratio{@gpu}", ("fan {{fan}}", "风扇 {{fan}}")),
        about=("Boards that the machine cools have none.", "由机箱散热的板卡没有风扇。"),
    ),
)

LINKS = (
    curve(
        ("PCIe", "PCIe"),
        "Bps",
        Query("gpu_pcie_transmit_bytes_per_second{@gpu}", ("from the GPU" + MIG, "GPU 发出" + MIG)),
        Query("gpu_pcie_receive_bytes_per_second{@gpu}", ("to the GPU" + MIG, "GPU 接收" + MIG)),
        without_gpm=curve(
            ("PCIe, a look of 20 ms each 10 s", "PCIe（每 10 秒采样 20 毫秒）"),
            "Bps",
            Query("gpu_pcie_blocking_transmit_bytes_per_second{@gpu}", ("from the GPU", "GPU 发出")),
            Query("gpu_pcie_blocking_receive_bytes_per_second{@gpu}", ("to the GPU", "GPU 接收")),
        ),
    ),
    curve(
        ("PCIe link", "PCIe 链路"),
        "short",
        Query("gpu_pcie_link_generation{@gpu}", ("generation", "代")),
        Query("gpu_pcie_link_width{@gpu}", ("lanes", "通道数")),
        Query("increase(gpu_pcie_replays_total{@gpu}[10m])", ("replays in 10 minutes", "10 分钟重传")),
        about=(
            "An idle GPU saves power with a slower generation.",
            "空闲的 GPU 会降低代数以省电。",
        ),
    ),
    curve(
        ("NVLink", "NVLink"),
        "Bps",
        Query(
            "sum by (gpu) (rate(gpu_nvlink_transmit_bytes_total{@gpu}[$__rate_interval]))",
            ("sent", "发出"),
        ),
        Query(
            "sum by (gpu) (rate(gpu_nvlink_receive_bytes_total{@gpu}[$__rate_interval]))",
            ("received", "接收"),
        ),
        about=("All links of the GPU together.", "该 GPU 全部链路之和。"),
    ),
)

HEALTH = (
    curve(
        ("XID errors in 10 minutes", "10 分钟内的 XID 错误"),
        "short",
        Query(
            "sum by (xid) (increase(gpu_xid_errors_total{@gpu}[10m])) "
            "or sum by (gpu) (gpu_last_xid{@gpu} * 0)",
            "XID {{xid}}",
        ),
    ),
    curve(
        ("ECC errors", "ECC 错误"),
        "short",
        Query('gpu_ecc_errors_total{@gpu,counter="volatile"}', "{{error}}"),
        about=("Since the last reset.", "自上次复位以来。"),
    ),
    curve(
        ("Remapped rows", "重映射的显存行"),
        "short",
        Query("gpu_remapped_rows_total{@gpu}", "{{cause}}"),
        Query("gpu_remapped_rows_pending{@gpu}", ("wait for a reset", "待复位")),
        Query("gpu_remapped_rows_failure{@gpu}", ("failed", "失败")),
    ),
    curve(
        ("Readings", "读数"),
        "short",
        Query("rate(gpu_readings_total{@gpu}[$__rate_interval])", ("good" + MIG, "有效" + MIG)),
        Query(
            "rate(gpu_rejected_readings_total{@gpu}[$__rate_interval])",
            ("rejected" + MIG, "被拒" + MIG),
        ),
        about=(
            "In a second. What is outside its physical range is rejected and shown nowhere.",
            "每秒。超出物理范围的读数被拒绝，不会显示。",
        ),
    ),
    curve(
        ("Performance state", "性能状态"),
        "short",
        Query("gpu_performance_state{@gpu}", "P"),
        about=("0 is the fastest.", "0 为最快。"),
    ),
    curve(
        ("Processes", "进程数"),
        "short",
        Query("gpu_processes{@gpu}", ("processes" + MIG, "进程" + MIG)),
    ),
)

BOARD = Board(
    "gpu",
    ("Everywatt: one GPU", "Everywatt：单个 GPU"),
    ("Everything about one GPU.", "单个 GPU 的全部信息。"),
    (
        Row(("Use", "使用情况"), USE),
        Row(("Memory", "显存"), MEMORY),
        Row(("Power, heat and clocks", "功耗、温度与时钟"), POWER),
        Row(("Links", "互连"), LINKS),
        Row(("Health", "健康"), HEALTH),
    ),
    variables=menus("gpu_up", one_gpu=True),
)
