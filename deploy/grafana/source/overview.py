# SPDX-License-Identifier: Apache-2.0
"""All GPUs at a glance."""

from model import Board, Panel, Query, Row, menus

GPU = "{{instance}} GPU {{gpu}}"
HOST = "{{instance}}"
WHOLE = '{@gpu,gpu_instance=""}'
SLOWDOWNS = 'reason=~"hw_slowdown|hw_thermal_slowdown|hw_power_brake_slowdown|sw_thermal_slowdown"'


def number(title, about, expr, unit, **more):
    return Panel(
        title, (Query(expr, instant=True),), unit, about, kind="stat", width=3, height=4, **more
    )


NUMBERS = (
    number(
        ("GPUs", "GPU 数"),
        ("GPUs that are there, whatever their state.", "在册的 GPU，不论状态。"),
        f"count(gpu_up{WHOLE})",
        "short",
    ),
    number(
        ("Not readable", "不可读"),
        (
            "Lost, hanging, failed or drained: the table below says which.",
            "丢失、无应答、失败或已释放：见下表。",
        ),
        f"count(gpu_up{WHOLE}) - sum(gpu_up{WHOLE})",
        "short",
        steps=((None, "green"), (1, "red")),
    ),
    number(
        ("Utilization", "利用率"),
        ("Mean over the GPUs of the driver's figure.", "各 GPU 驱动利用率的平均值。"),
        "avg(gpu_utilization_ratio{@gpu})",
        "percentunit",
    ),
    number(
        ("Memory in use", "显存使用"),
        ("Of the memory of all GPUs.", "占全部 GPU 显存的比例。"),
        f"sum(gpu_memory_used_bytes{WHOLE}) / sum(gpu_memory_total_bytes{WHOLE})",
        "percentunit",
        steps=((None, "green"), (0.9, "orange"), (0.97, "red")),
    ),
    number(
        ("Power", "功耗"),
        ("Of all boards together, now.", "全部板卡当前功耗之和。"),
        "sum(gpu_power_watts{@gpu})",
        "watt",
    ),
    number(
        ("Energy", "能耗"),
        ("In the range that is shown.", "所选时间范围内。"),
        "sum(increase(gpu_energy_accumulated_joules_total{@gpu}[$__range]))",
        "joule",
    ),
    number(
        ("Hottest", "最高温度"),
        ("The hottest chip.", "温度最高的芯片。"),
        "max(gpu_temperature_celsius{@gpu})",
        "celsius",
        steps=((None, "green"), (80, "orange"), (87, "red")),
    ),
    number(
        ("Held and idle", "占用而空闲"),
        (
            "GPUs whose memory a program has held without using the GPU for nine tenths of the last "
            "five minutes.",
            "最近五分钟内九成以上时间被程序占用显存却没有使用的 GPU。",
        ),
        "count(rate(gpu_held_idle_seconds_total{@gpu}[5m]) > 0.9) or vector(0)",
        "short",
        steps=((None, "green"), (1, "orange")),
    ),
)

TABLE = Panel(
    ("GPUs", "GPU 列表"),
    tuple(
        Query(expr, instant=True, form="table")
        for expr in (
            f"max by (instance, gpu, name) (gpu_info{WHOLE})",
            'max by (instance, gpu, status) (everywatt_gpu_status{@gpu,gpu_instance=""} == 1)',
            "max by (instance, gpu) (gpu_utilization_ratio{@gpu})",
            f"max by (instance, gpu) (gpu_memory_used_bytes{WHOLE} / gpu_memory_total_bytes{WHOLE})",
            "max by (instance, gpu) (gpu_power_watts{@gpu})",
            "max by (instance, gpu) (gpu_temperature_celsius{@gpu})",
            "max by (instance, gpu) (gpu_sm_clock_hertz{@gpu})",
            "max by (instance, gpu) (rate(gpu_held_idle_seconds_total{@gpu}[5m]))",
        )
    ),
    "short",
    ("One line a GPU, with its state now.", "每个 GPU 一行，显示当前状态。"),
    kind="table",
    width=24,
    height=9,
    columns=(
        ("C", ("Utilization", "利用率"), "percentunit"),
        ("D", ("Memory", "显存"), "percentunit"),
        ("E", ("Power", "功耗"), "watt"),
        ("F", ("Temperature", "温度"), "celsius"),
        ("G", ("SM clock", "SM 时钟"), "hertz"),
        ("H", ("Held and idle", "占用而空闲"), "percentunit"),
    ),
)

CURVES = (
    Panel(
        ("Utilization", "利用率"),
        (Query("gpu_utilization_ratio{@gpu}", GPU),),
        "percentunit",
        (
            "Share of time in which any kernel ran, however few of the SMs it used.",
            "有内核在运行的时间占比，与用到多少 SM 无关。",
        ),
        low=0,
        high=1,
    ),
    Panel(
        ("SM activity", "SM 活跃度"),
        (Query(f"gpu_sm_active_ratio{WHOLE}", GPU),),
        "percentunit",
        ("How much of the GPU works: needs Hopper or newer.", "GPU 有多少在工作：需要 Hopper 或更新。"),
        low=0,
        high=1,
        without_gpm=Panel(
            ("Power, as a share of the limit", "功耗占上限的比例"),
            (Query("gpu_power_watts{@gpu} / gpu_power_limit_enforced_watts{@gpu}", GPU),),
            "percentunit",
            (
                "Where the hardware does not count its SMs, power is the best sign of how much works.",
                "硬件不统计 SM 活跃度时，功耗是工作量的最佳指标。",
            ),
            low=0,
        ),
    ),
    Panel(
        ("Memory in use", "显存使用"),
        (Query(f"gpu_memory_used_bytes{WHOLE} / gpu_memory_total_bytes{WHOLE}", GPU),),
        "percentunit",
        low=0,
        high=1,
    ),
    Panel(("Power", "功耗"), (Query("gpu_power_watts{@gpu}", GPU),), "watt", low=0),
    Panel(("Temperature", "温度"), (Query("gpu_temperature_celsius{@gpu}", GPU),), "celsius"),
    Panel(("SM clock", "SM 时钟"), (Query("gpu_sm_clock_hertz{@gpu}", GPU),), "hertz", low=0),
)

TROUBLE = (
    Panel(
        ("XID errors in 10 minutes", "10 分钟内的 XID 错误"),
        (
            Query(
                "sum by (instance, gpu, xid) (increase(gpu_xid_errors_total{@gpu}[10m])) "
                "or sum by (instance, gpu) (gpu_last_xid{@gpu} * 0)",
                GPU + " {{xid}}",
            ),
        ),
        "short",
        (
            "By code; a GPU without any is at 0. The vertical lines in the other graphs are the same.",
            "按代码；没有错误的 GPU 为 0。其他图中的竖线即为这些错误。",
        ),
        low=0,
    ),
    Panel(
        ("Slowed down by heat or hardware", "因过热或硬件而降频"),
        (
            Query(
                "max by (instance, gpu) (rate(gpu_clock_event_seconds_total{@gpu,"
                + SLOWDOWNS
                + "}[$__rate_interval]))",
                GPU,
            ),
        ),
        "percentunit",
        ("Share of time.", "时间占比。"),
        low=0,
    ),
    Panel(
        ("Uncorrectable ECC errors", "不可纠正的 ECC 错误"),
        (
            Query(
                'gpu_ecc_errors_total{@gpu,error="uncorrected",counter="volatile"}',
                GPU,
            ),
        ),
        "short",
        ("Since the last reset of the GPU.", "自 GPU 上次复位以来。"),
        low=0,
    ),
    Panel(
        ("Rows that wait for a reset, or could not be remapped", "待复位或重映射失败的显存行"),
        (
            Query("gpu_remapped_rows_pending{@gpu}", GPU),
            Query("gpu_remapped_rows_failure{@gpu}", (GPU + " failure", GPU + " 失败")),
        ),
        "short",
        low=0,
    ),
)

MACHINE = (
    Panel(
        ("CPU", "CPU"),
        (
            Query(
                "1 - sum by (instance) (rate(host_cpu_seconds_total{@host,mode=~"
                '"idle|iowait"}[$__rate_interval])) / sum by (instance) '
                "(rate(host_cpu_seconds_total{@host}[$__rate_interval]))",
                HOST,
            ),
        ),
        "percentunit",
        width=8,
        low=0,
        high=1,
    ),
    Panel(
        ("Waiting for CPU, disk or memory", "等待 CPU、磁盘或内存"),
        (
            Query(
                'rate(host_pressure_seconds_total{@host,extent="some"}[$__rate_interval])',
                HOST + " {{resource}}",
            ),
        ),
        "percentunit",
        (
            "Share of time in which some task waited for it (the kernel's pressure figures).",
            "有任务在等待该资源的时间占比（内核 PSI）。",
        ),
        width=8,
        low=0,
    ),
    Panel(
        ("Memory available", "可用内存"),
        (Query("host_memory_available_bytes{@host} / host_memory_total_bytes{@host}", HOST),),
        "percentunit",
        width=8,
        low=0,
        high=1,
    ),
)

SELF = (
    Panel(
        ("CPU of Everywatt", "Everywatt 的 CPU"),
        (
            Query(
                "sum by (instance) (rate(everywatt_process_cpu_seconds_total{@host}[$__rate_interval]))",
                HOST,
            ),
        ),
        "percentunit",
        ("Of one core.", "占一个核的比例。"),
        width=8,
        low=0,
    ),
    Panel(
        ("Age of the readings", "读数的新旧"),
        (
            Query(
                "max by (instance, lane) (everywatt_last_reading_age_seconds{@gpu})",
                HOST + " {{lane}}",
            ),
        ),
        "s",
        ("The oldest of each lane.", "每个通道中最旧的读数。"),
        width=8,
        low=0,
    ),
    Panel(
        ("Memory of Everywatt", "Everywatt 的内存"),
        (
            Query(
                "sum by (instance) (everywatt_process_proportional_bytes{@host} "
                "- everywatt_process_recorder_proportional_bytes{@host})",
                HOST,
            ),
        ),
        "bytes",
        ("Without the recorder files.", "不含记录文件。"),
        width=8,
        low=0,
    ),
)

BOARD = Board(
    "overview",
    ("Everywatt: overview", "Everywatt：总览"),
    ("All GPUs at a glance, and what is wrong.", "全部 GPU 一览，以及有何异常。"),
    (
        Row(("Now", "当前"), (*NUMBERS, TABLE)),
        Row(("Use", "使用情况"), CURVES),
        Row(("Trouble", "异常"), TROUBLE),
        Row(("Machine", "机器"), MACHINE),
        Row(("Everywatt itself", "Everywatt 自身"), SELF),
    ),
    variables=menus("gpu_up"),
)
