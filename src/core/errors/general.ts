import type { ErrorRows } from './row.ts'

export const generalErrors = {
  internal: { kind: 'internal', message: '服务器内部错误，请联系管理员！' },
  unavailable: { kind: 'unavailable', message: '服务暂时不可用，请稍后重试' },
  'database.unavailable': { kind: 'unavailable', message: '数据库暂时不可用，请稍后重试', status: 503 },
  forbidden: { kind: 'forbidden', message: '无权进行此操作' },
  not_found: { kind: 'not_found', message: '请求的内容不存在' },
  rate_limited: { kind: 'rate_limited', message: '请求次数过多，请稍后再试！' },
  'input.invalid': { kind: 'invalid', message: '请求参数无效：{detail}' },
  'input.unreadable': { kind: 'invalid', message: '请求内容无法解析', status: 400 },
  'input.too_large': { kind: 'invalid', message: '请求内容过大', status: 413 },
  'input.id_invalid': { kind: 'invalid', message: '编号无效' },
  'input.selection_empty': { kind: 'invalid', message: '请先选择要操作的项目' },
  'url.invalid': { kind: 'invalid', message: '地址格式不正确' },
  'url.forbidden': { kind: 'forbidden', message: '不允许访问该地址' },

  'setup.already_done': { kind: 'conflict', message: '系统已经初始化完成', status: 400 },
  'setup.required': { kind: 'unavailable', message: '系统尚未初始化' },
  'setup.forbidden': { kind: 'forbidden', message: '请使用首次启动时显示的地址进行初始化', status: 403 },
  'setup.username_required': { kind: 'invalid', message: '请输入管理员用户名', status: 400 },
  'setup.username_too_long': { kind: 'invalid', message: '用户名不能超过 12 个字符', status: 400 },
  'setup.password_too_short': { kind: 'invalid', message: '密码长度至少为 8 个字符', status: 400 },
  'setup.password_mismatch': { kind: 'invalid', message: '两次输入的密码不一致', status: 400 },
  'setup.failed': { kind: 'internal', message: '系统初始化失败，请重试', status: 500 },

  'message.not_found': { kind: 'not_found', message: '消息不存在' },
  'message.title_required': { kind: 'invalid', message: '请输入消息标题' },
  'message.content_required': { kind: 'invalid', message: '请输入消息内容' },
  'message.format_invalid': { kind: 'invalid', message: '消息格式无效' },
  'message.recipients_required': { kind: 'invalid', message: '请至少选择一位收件人' },
  'message.dates_incomplete': { kind: 'invalid', message: '请同时选择开始日期和结束日期' },

  'log.time_required': { kind: 'invalid', message: '请选择清理时间' },
  'log.key_unknown': { kind: 'not_found', message: '令牌无效' },
  'query.too_slow': { kind: 'unavailable', message: '查询耗时过长，请缩小时间范围或增加筛选条件' },
  'stats.range_too_long': { kind: 'invalid', message: '时间跨度不能超过 1 个月' },
  'task.not_found': { kind: 'not_found', message: '任务不存在' },
} as const satisfies ErrorRows
