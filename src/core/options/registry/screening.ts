import { type OptionTable, option } from '../define.ts'
import { flag, text } from '../schemas.ts'

export const screeningOptions = {
  CheckSensitiveEnabled: option(flag, {
    default: true,
    visibility: 'admin',
    group: 'screening',
    label: '启用屏蔽词过滤功能',
  }),
  CheckSensitiveOnPromptEnabled: option(flag, {
    default: true,
    visibility: 'admin',
    group: 'screening',
    label: '启用 Prompt 检查',
  }),
  StopOnSensitiveEnabled: option(flag, {
    default: true,
    visibility: 'admin',
    group: 'legacy',
    label: '命中屏蔽词时拒绝请求',
  }),
  SensitiveWords: option(text, {
    default: 'test_sensitive',
    visibility: 'admin',
    group: 'screening',
    label: '屏蔽词列表',
    help: '一行一个屏蔽词，以 regex: 开头的行是正则表达式',
    widget: 'lines',
  }),
} satisfies OptionTable
