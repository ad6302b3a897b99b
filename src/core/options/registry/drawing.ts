import { type OptionTable, option } from '../define.ts'
import { flag } from '../schemas.ts'

export const drawingOptions = {
  DrawingEnabled: option(flag, {
    default: true,
    visibility: 'public',
    group: 'drawing',
    label: '启用绘图功能',
  }),
  TaskEnabled: option(flag, {
    default: true,
    visibility: 'public',
    group: 'drawing',
    label: '启用任务功能',
  }),
  MjNotifyEnabled: option(flag, {
    default: false,
    visibility: 'public',
    group: 'drawing',
    label: '允许回调',
    help: '会泄露服务器 IP 地址',
  }),
  MjAccountFilterEnabled: option(flag, {
    default: false,
    visibility: 'admin',
    group: 'drawing',
    label: '允许 accountFilter 参数',
  }),
  MjForwardUrlEnabled: option(flag, {
    default: true,
    visibility: 'admin',
    group: 'drawing',
    label: '图片地址替换为服务器地址',
    help: '开启后上游的地址不会显示给用户',
  }),
  MjModeClearEnabled: option(flag, {
    default: false,
    visibility: 'admin',
    group: 'drawing',
    label: '清除提示词中的 --fast、--relax 和 --turbo 参数',
  }),
  MjActionCheckSuccessEnabled: option(flag, {
    default: true,
    visibility: 'admin',
    group: 'drawing',
    label: '检测必须等待绘图成功才能进行放大等操作',
  }),
} satisfies OptionTable
