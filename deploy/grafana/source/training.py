# SPDX-License-Identifier: Apache-2.0
"""Does the training make use of what it was given, and what does it wait for?"""

from model import Board, Panel, Query, Row, menus

GPU = "{{instance}} GPU {{gpu}}"
HOST = "{{instance}}"


def quantiles(series):
    return tuple(
        Query(
            f"histogram_quantile({q}, sum by (le) (rate({series}_bucket{{@gpu}}[$__rate_interval])))",
            name,
        )
        for q, name in ((0.05, "5 %"), (0.25, "25 %"), (0.5, "50 %"), (0.75, "75 %"), (0.95, "95 %"))
    )


EFFICIENCY = (
    Panel(
        ("Share of the GPU that works", "GPU 实际工作占比"),
        (Query("gpu_sm_active_ratio{@gpu}", GPU),),
        "percentunit",
        (
            "SMs that hold work, averaged over time. A utilization of 100 % with few active SMs is a "
            "GPU that is busy and does little.",
            "有任务驻留的 SM 的时间平均。利用率 100 % 而活跃 SM 很少，说明 GPU 忙而低效。",
        ),
        low=0,
        high=1,
        without_gpm=Panel(
            ("Utilization", "利用率"),
            (Query("gpu_utilization_ratio{@gpu}", GPU),),
            "percentunit",
            (
                "Share of time in which any kernel ran. Read it beside power: a kernel on one SM counts "
                "as much as one on all.",
                "有内核在运行的时间占比。请结合功耗判断：只用一个 SM 的内核与用满的内核同样计数。",
            ),
            low=0,
            high=1,
        ),
    ),
    Panel(
        ("Utilization less SM activity", "利用率与 SM 活跃度之差"),
        (
            Query(
                "clamp_min(gpu_utilization_ratio{@gpu} - gpu_sm_active_ratio{@gpu}, 0)",
                GPU,
            ),
        ),
        "percentunit",
        (
            "What plain utilization makes look busy: small kernels, launches one at a time.",
            "利用率显示为忙碌但 SM 并未用满的部分：内核过小、逐个启动。",
        ),
        low=0,
        high=1,
        without_gpm=Panel(
            ("Utilization less power share", "利用率与功耗占比之差"),
            (
                Query(
                    "clamp_min(gpu_utilization_ratio{@gpu} "
                    "- gpu_power_watts{@gpu} / gpu_power_limit_enforced_watts{@gpu}, 0)",
                    GPU,
                ),
            ),
            "percentunit",
            (
                "Busy by the driver's figure, and yet at little power: kernels that use few SMs.",
                "驱动显示忙碌但功耗很低：内核只用到少数 SM。",
            ),
            low=0,
            high=1,
        ),
    ),
    Panel(
        ("Tensor cores", "张量核心"),
        (Query("gpu_tensor_active_ratio{@gpu}", GPU),),
        "percentunit",
        (
            "Near 0 in mixed precision: shapes or types keep the tensor cores out.",
            "混合精度下接近 0：形状或数据类型使张量核心无法使用。",
        ),
        low=0,
        high=1,
        without_gpm=Panel(
            ("Power, as a share of the limit", "功耗占上限的比例"),
            (Query("gpu_power_watts{@gpu} / gpu_power_limit_enforced_watts{@gpu}", GPU),),
            "percentunit",
            ("Dense tensor work takes it close to 1.", "密集的张量运算会使其接近 1。"),
            low=0,
        ),
    ),
    Panel(
        ("Memory bandwidth", "显存带宽"),
        (Query("gpu_dram_active_ratio{@gpu}", GPU),),
        "percentunit",
        ("Above 0.6 to 0.7 memory is what limits.", "高于 0.6 至 0.7 时受显存带宽限制。"),
        low=0,
        high=1,
        without_gpm=Panel(
            ("Memory controller", "显存控制器"),
            (Query("gpu_memory_controller_active_ratio{@gpu}", GPU),),
            "percentunit",
            low=0,
            high=1,
        ),
    ),
)

BURSTS = (
    Panel(
        ("Utilization between two scrapes", "两次抓取之间的利用率"),
        quantiles("gpu_utilization_sampled_ratio"),
        "percentunit",
        (
            "Quantiles of every sample of the driver. A mean of 40 % that is a swing from 5 % to 80 % "
            "shows as a wide fan: the input starves the GPU.",
            "驱动每个样本的分位数。平均 40 % 若实为 5 % 到 80 % 的摆动，曲线会散开：输入供给不足。",
        ),
        low=0,
        high=1,
    ),
    Panel(
        ("SM activity between two scrapes", "两次抓取之间的 SM 活跃度"),
        quantiles("gpu_sm_active_sampled_ratio"),
        "percentunit",
        low=0,
        high=1,
        without_gpm=Panel(
            ("Power between two scrapes", "两次抓取之间的功耗"),
            quantiles("gpu_power_sampled_watts"),
            "watt",
            ("From the driver's buffer of 20.7 ms samples.", "来自驱动的 20.7 毫秒样本缓冲。"),
            low=0,
        ),
    ),
    Panel(
        ("Busy", "忙碌"),
        (
            Query(
                "rate(gpu_busy_seconds_total{@gpu}[$__rate_interval]) "
                "/ rate(gpu_observed_seconds_total{@gpu}[$__rate_interval])",
                GPU,
            ),
        ),
        "percentunit",
        (
            "Share of time, from sums: right whatever the scrape interval.",
            "时间占比，来自累计值：与抓取间隔无关。",
        ),
        low=0,
        high=1,
    ),
    Panel(
        ("Held and idle", "占用而空闲"),
        (
            Query(
                "rate(gpu_held_idle_seconds_total{@gpu}[$__rate_interval]) "
                "/ rate(gpu_observed_seconds_total{@gpu}[$__rate_interval])",
                GPU,
            ),
        ),
        "percentunit",
        (
            "A program holds memory and the GPU does nothing. Every watt should do work.",
            "程序占用显存而 GPU 空闲。每一瓦都应当做功。",
        ),
        low=0,
        high=1,
    ),
)

WAITING = (
    Panel(
        ("CPU of the machine", "机器 CPU"),
        (
            Query(
                "sum by (instance, mode) (rate(host_cpu_seconds_total{@host,mode!~"
                '"idle|steal|irq|softirq"}[$__rate_interval])) / on (instance) group_left '
                "sum by (instance) (rate(host_cpu_seconds_total{@host}[$__rate_interval]))",
                HOST + " {{mode}}",
            ),
        ),
        "percentunit",
        (
            "Full, while the GPU waits: decoding and augmentation need more cores or less work.",
            "CPU 占满而 GPU 在等待：解码与增强需要更多核心或更少工作。",
        ),
        width=8,
        low=0,
        stacked=True,
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
        width=8,
        low=0,
    ),
    Panel(
        ("Disks", "磁盘"),
        (
            Query(
                "rate(host_disk_read_bytes_total{@host}[$__rate_interval])",
                (HOST + " {{disk}} read", HOST + " {{disk}} 读"),
            ),
            Query(
                "rate(host_disk_written_bytes_total{@host}[$__rate_interval])",
                (HOST + " {{disk}} written", HOST + " {{disk}} 写"),
            ),
        ),
        "Bps",
        ("Writes that stop the GPU are checkpoints.", "写入时 GPU 停顿，多为保存检查点。"),
        width=8,
        low=0,
    ),
    Panel(
        ("PCIe to the GPU", "PCIe 到 GPU"),
        (Query("gpu_pcie_receive_bytes_per_second{@gpu}", GPU),),
        "Bps",
        (
            "Copies from pageable memory reach a fraction of what pinned memory does.",
            "从可分页内存拷贝只能达到锁页内存的一小部分速度。",
        ),
        width=8,
        low=0,
        without_gpm=Panel(
            ("PCIe to the GPU, a look of 20 ms each 10 s", "PCIe 到 GPU（每 10 秒采样 20 毫秒）"),
            (Query("gpu_pcie_blocking_receive_bytes_per_second{@gpu}", GPU),),
            "Bps",
            low=0,
        ),
    ),
    Panel(
        ("Network", "网络"),
        (
            Query(
                "rate(host_interface_receive_bytes_total{@host}[$__rate_interval])",
                (HOST + " {{interface}} received", HOST + " {{interface}} 接收"),
            ),
            Query(
                "rate(host_interface_transmit_bytes_total{@host}[$__rate_interval])",
                (HOST + " {{interface}} sent", HOST + " {{interface}} 发出"),
            ),
        ),
        "Bps",
        width=8,
        low=0,
    ),
    Panel(
        ("GPU memory", "显存"),
        (Query("gpu_memory_used_bytes{@gpu} / gpu_memory_total_bytes{@gpu}", GPU),),
        "percentunit",
        ("Grows without an end: something keeps old batches.", "持续增长：有对象保留了旧的批次。"),
        width=8,
        low=0,
        high=1,
    ),
)

COST = (
    Panel(
        ("Energy in each hour", "每小时能耗"),
        (Query("increase(gpu_energy_accumulated_joules_total{@gpu}[1h])", GPU),),
        "joule",
        low=0,
    ),
    Panel(
        ("At the power limit", "处于功耗上限"),
        (
            Query(
                'rate(gpu_clock_event_seconds_total{@gpu,reason="sw_power_cap"}[$__rate_interval])',
                GPU,
            ),
        ),
        "percentunit",
        ("Share of time.", "时间占比。"),
        low=0,
    ),
)

BOARD = Board(
    "training",
    ("Everywatt: training efficiency", "Everywatt：训练效率"),
    (
        "Does the training use what it was given, and what does it wait for?",
        "训练是否用好了分到的资源，又在等待什么？",
    ),
    (
        Row(("How much works", "有多少在工作"), EFFICIENCY),
        Row(("What averages hide", "平均值掩盖了什么"), BURSTS),
        Row(("What it waits for", "在等待什么"), WAITING),
        Row(("What it costs", "代价"), COST),
    ),
    variables=menus("gpu_up"),
)
