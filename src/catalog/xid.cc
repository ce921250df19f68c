// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "catalog/glossary.h"

namespace everywatt::catalog {
namespace {

// Codes from `first` to `last` that say the same thing. In our own words after the driver's public
// list; sorted, without overlaps.
struct XidRange {
  std::uint64_t first;
  std::uint64_t last;
  std::string_view en;
  std::string_view zh;
};
constexpr std::array kXids{
    XidRange{1, 4, "invalid command stream", "命令流无效"},
    XidRange{6, 7, "invalid command stream", "命令流无效"},
    XidRange{8, 8, "GPU stopped processing", "GPU 停止处理"},
    XidRange{9, 9, "driver made an error in programming the GPU", "驱动对 GPU 编程出错"},
    XidRange{11, 11, "invalid command stream", "命令流无效"},
    XidRange{12, 12, "driver made an error in handling an exception", "驱动处理异常出错"},
    XidRange{13, 13, "graphics engine exception: a kernel did something illegal",
             "图形引擎异常：内核执行了非法操作"},
    XidRange{16, 16, "display engine hung", "显示引擎挂起"},
    XidRange{18, 18, "bus mastering is switched off", "PCI 总线主控被关闭"},
    XidRange{19, 19, "display engine error", "显示引擎错误"},
    XidRange{24, 24, "GPU semaphore timed out", "GPU 信号量超时"},
    XidRange{25, 25, "invalid command stream", "命令流无效"},
    XidRange{26, 26, "framebuffer timed out", "帧缓冲超时"},
    XidRange{31, 31, "memory page fault: a kernel touched an address that is not mapped",
             "显存页错误：内核访问了未映射的地址"},
    XidRange{32, 32, "invalid or corrupted command stream", "命令流无效或损坏"},
    XidRange{37, 38, "driver firmware error", "驱动固件错误"},
    XidRange{39, 41, "copy engine exception", "复制引擎异常"},
    XidRange{43, 43, "GPU stopped processing a program's work", "GPU 停止处理某程序的任务"},
    XidRange{44, 44, "graphics engine fault during a context switch", "上下文切换时图形引擎故障"},
    XidRange{45, 45, "work of a program was removed, mostly after another error",
             "程序任务被清除，多为其他错误的后果"},
    XidRange{46, 46, "GPU stopped processing", "GPU 停止处理"},
    XidRange{47, 47, "video encoder exception", "视频编码器异常"},
    XidRange{48, 48, "uncorrectable ECC error in memory", "内存出现不可纠正的 ECC 错误"},
    XidRange{54, 54, "auxiliary power is not connected", "辅助供电未连接"},
    XidRange{56, 56, "display engine error", "显示引擎错误"},
    XidRange{57, 57, "device memory could not be set up", "显存接口配置失败"},
    XidRange{58, 58, "device memory is unstable", "显存接口不稳定"},
    XidRange{61, 61, "internal microcontroller breakpoint or warning", "内部微控制器断点或警告"},
    XidRange{62, 62, "internal microcontroller halted", "内部微控制器停止"},
    XidRange{63, 63, "row remapping or page retirement recorded", "已记录行重映射或页停用"},
    XidRange{64, 64, "row remapping or page retirement could not be recorded",
             "行重映射或页停用记录失败"},
    XidRange{65, 65, "video encoder exception", "视频编码器异常"},
    XidRange{66, 67, "illegal access by the driver", "驱动非法访问"},
    XidRange{68, 68, "video decoder exception", "视频解码器异常"},
    XidRange{69, 69, "graphics engine class error", "图形引擎类错误"},
    XidRange{70, 72, "copy engine exception", "复制引擎异常"},
    XidRange{73, 73, "video encoder exception", "视频编码器异常"},
    XidRange{74, 74, "NVLink error", "NVLink 错误"},
    XidRange{75, 77, "copy engine exception", "复制引擎异常"},
    XidRange{78, 78, "vGPU could not be started", "vGPU 启动失败"},
    XidRange{79, 79, "GPU has fallen off the bus", "GPU 已从总线脱落"},
    XidRange{80, 80, "corrupted commands were sent to the GPU", "发送到 GPU 的命令损坏"},
    XidRange{81, 81, "VGA subsystem error", "VGA 子系统错误"},
    XidRange{82, 82, "JPEG engine exception", "JPEG 引擎异常"},
    XidRange{83, 84, "video decoder exception", "视频解码器异常"},
    XidRange{85, 85, "copy engine exception", "复制引擎异常"},
    XidRange{86, 86, "optical flow engine exception", "光流引擎异常"},
    XidRange{88, 89, "video decoder exception", "视频解码器异常"},
    XidRange{90, 90, "error in the level 2 cache", "二级缓存错误"},
    XidRange{92, 92, "many corrected ECC errors in a short time",
             "短时间内出现大量已纠正 ECC 错误"},
    XidRange{93, 93, "flash memory of the board is wearing out", "板卡闪存接近写入寿命"},
    XidRange{94, 94, "contained uncorrectable error: one program was hit",
             "被隔离的不可纠正错误：仅影响一个程序"},
    XidRange{95, 95, "uncontained uncorrectable error: the GPU must be reset",
             "未隔离的不可纠正错误：需要复位 GPU"},
    XidRange{96, 98, "video decoder exception", "视频解码器异常"},
    XidRange{99, 105, "JPEG engine exception", "JPEG 引擎异常"},
    XidRange{106, 107, "test message of the management bus", "管理总线测试消息"},
    XidRange{108, 108, "address of a peer's memory could not be translated",
             "对等显存地址转换失败"},
    XidRange{109, 109, "context switch timed out", "上下文切换超时"},
    XidRange{110, 110, "security fault", "安全故障"},
    XidRange{119, 119, "no answer from the GPU's system processor", "GPU 系统处理器无应答"},
    XidRange{120, 120, "error in the GPU's system processor", "GPU 系统处理器错误"},
    XidRange{121, 121, "error on the chip-to-chip link", "片间互连错误"},
    XidRange{122, 124, "flash memory of the board could not be read or written",
             "板卡闪存读写失败"},
    XidRange{125, 125, "flash memory of the board has an invalid content", "板卡闪存内容无效"},
    XidRange{126, 135, "copy engine exception", "复制引擎异常"},
    XidRange{136, 136, "NVLink training failed", "NVLink 链路训练失败"},
    XidRange{137, 137, "NVLink access to a peer's memory that was not allowed",
             "经 NVLink 访问对等显存未获允许"},
    XidRange{139, 139, "optical flow engine exception", "光流引擎异常"},
    XidRange{140, 140, "unrecovered ECC error", "未恢复的 ECC 错误"},
    XidRange{143, 143, "GPU could not be initialised", "GPU 初始化失败"},
    XidRange{144, 150, "NVLink error", "NVLink 错误"},
    XidRange{154, 154, "what the driver advises for recovery has changed",
             "驱动建议的恢复动作有变"},
    XidRange{155, 155, "NVLink error", "NVLink 错误"},
    XidRange{156, 156, "retirement of a resource recorded", "已记录资源停用"},
    XidRange{157, 157, "retirement of a resource could not be recorded", "资源停用记录失败"},
};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kXids.size(); ++i) {
    if (kXids[i].last < kXids[i].first) return false;
    if (i > 0 && kXids[i].first <= kXids[i - 1].last) return false;
  }
  return true;
}
static_assert(is_in_order());

const XidRange* find(std::uint64_t code) {
  const auto found = std::ranges::lower_bound(kXids, code, {}, &XidRange::last);
  return found != kXids.end() && found->first <= code ? &*found : nullptr;
}

}  // namespace

std::string_view xid_text(std::uint64_t code, Lang lang) {
  const XidRange* range = find(code);
  if (range == nullptr) return lang == Lang::kZh ? "其他驱动错误" : "another error of the driver";
  return lang == Lang::kZh ? range->zh : range->en;
}

bool is_known_xid(std::uint64_t code) {
  return find(code) != nullptr;
}

}  // namespace everywatt::catalog
