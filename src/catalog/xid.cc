// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "catalog/glossary.h"

namespace everywatt::catalog {
namespace {

struct Xid {
  std::uint64_t code;
  std::string_view en;
  std::string_view zh;
};
// Sorted by code. In our own words after the driver's public list of XID errors.
constexpr std::array kXids{
    Xid{1, "invalid command stream", "命令流无效"},
    Xid{2, "invalid command stream", "命令流无效"},
    Xid{3, "invalid command stream", "命令流无效"},
    Xid{4, "invalid command stream", "命令流无效"},
    Xid{6, "invalid command stream", "命令流无效"},
    Xid{7, "invalid address of a command stream", "命令流地址无效"},
    Xid{8, "GPU stopped processing", "GPU 停止处理"},
    Xid{9, "error while the GPU was being programmed", "GPU 编程错误"},
    Xid{11, "invalid command stream", "命令流无效"},
    Xid{13, "graphics engine exception: a kernel did something illegal",
        "图形引擎异常：内核执行了非法操作"},
    Xid{16, "display engine hung", "显示引擎挂起"},
    Xid{18, "bus mastering is switched off", "PCI 总线主控被关闭"},
    Xid{19, "display engine error", "显示引擎错误"},
    Xid{24, "GPU semaphore timed out", "GPU 信号量超时"},
    Xid{25, "invalid command stream", "命令流无效"},
    Xid{31, "memory page fault: a kernel touched an address that is not mapped",
        "显存页错误：内核访问了未映射的地址"},
    Xid{32, "invalid or corrupted command stream", "命令流无效或损坏"},
    Xid{37, "driver firmware error", "驱动固件错误"},
    Xid{38, "driver firmware error", "驱动固件错误"},
    Xid{39, "copy engine exception", "复制引擎异常"},
    Xid{40, "copy engine exception", "复制引擎异常"},
    Xid{41, "copy engine exception", "复制引擎异常"},
    Xid{43, "GPU stopped processing a program's work", "GPU 停止处理某程序的任务"},
    Xid{44, "graphics engine fault during a context switch", "上下文切换时图形引擎故障"},
    Xid{45, "work of a program was removed, mostly after another error",
        "程序任务被清除，多为其他错误的后果"},
    Xid{46, "GPU stopped processing", "GPU 停止处理"},
    Xid{47, "video engine exception", "视频引擎异常"},
    Xid{48, "uncorrectable ECC error in memory", "内存出现不可纠正的 ECC 错误"},
    Xid{54, "auxiliary power is not connected", "辅助供电未连接"},
    Xid{56, "display engine error", "显示引擎错误"},
    Xid{57, "memory link training failed", "显存链路训练失败"},
    Xid{58, "memory timing error", "显存时序错误"},
    Xid{60, "video engine exception", "视频引擎异常"},
    Xid{61, "microcontroller breakpoint or warning", "内部微控制器断点或警告"},
    Xid{62, "microcontroller halted", "内部微控制器停止"},
    Xid{63, "row remapping or page retirement recorded", "已记录行重映射或页停用"},
    Xid{64, "row remapping or page retirement could not be recorded", "行重映射或页停用记录失败"},
    Xid{65, "video engine exception", "视频引擎异常"},
    Xid{66, "illegal access by the driver", "驱动非法访问"},
    Xid{67, "illegal access by the driver", "驱动非法访问"},
    Xid{68, "video decoder exception", "视频解码器异常"},
    Xid{69, "graphics engine class error", "图形引擎类错误"},
    Xid{70, "copy engine exception", "复制引擎异常"},
    Xid{71, "copy engine exception", "复制引擎异常"},
    Xid{72, "copy engine exception", "复制引擎异常"},
    Xid{73, "video encoder exception", "视频编码器异常"},
    Xid{74, "NVLink error", "NVLink 错误"},
    Xid{75, "copy engine exception", "复制引擎异常"},
    Xid{76, "copy engine exception", "复制引擎异常"},
    Xid{77, "copy engine exception", "复制引擎异常"},
    Xid{78, "vGPU start error", "vGPU 启动错误"},
    Xid{79, "GPU has fallen off the bus", "GPU 已从总线脱落"},
    Xid{80, "corrupted data pushed to the GPU", "推送到 GPU 的数据损坏"},
    Xid{81, "VGA subsystem error", "VGA 子系统错误"},
    Xid{82, "JPEG engine exception", "JPEG 引擎异常"},
    Xid{83, "video decoder exception", "视频解码器异常"},
    Xid{84, "video decoder exception", "视频解码器异常"},
    Xid{85, "copy engine exception", "复制引擎异常"},
    Xid{86, "optical flow engine exception", "光流引擎异常"},
    Xid{88, "video decoder exception", "视频解码器异常"},
    Xid{89, "video decoder exception", "视频解码器异常"},
    Xid{92, "many corrected ECC errors in a short time", "短时间内出现大量已纠正 ECC 错误"},
    Xid{93, "wear of the flash memory of the board", "板卡闪存磨损提示"},
    Xid{94, "contained uncorrectable error: one program was hit",
        "被隔离的不可纠正错误：仅影响一个程序"},
    Xid{95, "uncontained uncorrectable error: the GPU must be reset",
        "未隔离的不可纠正错误：需要复位 GPU"},
    Xid{96, "video decoder exception", "视频解码器异常"},
    Xid{97, "video decoder exception", "视频解码器异常"},
    Xid{98, "video decoder exception", "视频解码器异常"},
    Xid{99, "video decoder exception", "视频解码器异常"},
    Xid{100, "video decoder exception", "视频解码器异常"},
    Xid{101, "video decoder exception", "视频解码器异常"},
    Xid{102, "video decoder exception", "视频解码器异常"},
    Xid{103, "video decoder exception", "视频解码器异常"},
    Xid{104, "video decoder exception", "视频解码器异常"},
    Xid{105, "video decoder exception", "视频解码器异常"},
    Xid{106, "SMBus microcontroller error", "SMBus 微控制器错误"},
    Xid{109, "context switch timed out", "上下文切换超时"},
    Xid{110, "security fault", "安全故障"},
    Xid{119, "no answer from the GPU's system processor", "GPU 系统处理器无应答"},
    Xid{120, "error in the GPU's system processor", "GPU 系统处理器错误"},
    Xid{121, "corrected error on the chip-to-chip link", "片间互连已纠正错误"},
    Xid{122, "reading the board's flash memory failed", "读取板卡闪存失败"},
    Xid{123, "power management firmware error", "电源管理固件错误"},
    Xid{125, "board's flash memory has an invalid content", "板卡闪存内容无效"},
    Xid{137, "NVLink fault on a peer's access", "对等访问的 NVLink 故障"},
    Xid{140, "unrecovered ECC error", "未恢复的 ECC 错误"},
    Xid{143, "GPU initialisation failed", "GPU 初始化失败"},
    Xid{144, "NVLink error (SAW)", "NVLink 错误（SAW）"},
    Xid{145, "NVLink error (receive layer)", "NVLink 错误（接收层）"},
    Xid{146, "NVLink error (transmit layer)", "NVLink 错误（发送层）"},
    Xid{147, "NVLink error (transaction layer)", "NVLink 错误（事务层）"},
    Xid{148, "NVLink error (transmit layer)", "NVLink 错误（发送层）"},
    Xid{149, "NVLink link went down", "NVLink 链路断开"},
    Xid{150, "NVLink error (main link unit)", "NVLink 错误（主链路单元）"},
    Xid{154, "what the driver advises to recover has changed", "驱动建议的恢复动作有变"},
    Xid{156, "resource retirement recorded", "已记录资源停用"},
    Xid{157, "resource retirement could not be recorded", "资源停用记录失败"},
};
static_assert(std::ranges::is_sorted(kXids, {}, &Xid::code));

const Xid* find(std::uint64_t code) {
  const auto found = std::ranges::lower_bound(kXids, code, {}, &Xid::code);
  return found != kXids.end() && found->code == code ? &*found : nullptr;
}

}  // namespace

std::string_view xid_text(std::uint64_t code, Lang lang) {
  const Xid* xid = find(code);
  if (xid == nullptr) return lang == Lang::kZh ? "其他驱动错误" : "another error of the driver";
  return lang == Lang::kZh ? xid->zh : xid->en;
}

bool is_known_xid(std::uint64_t code) {
  return find(code) != nullptr;
}

}  // namespace everywatt::catalog
