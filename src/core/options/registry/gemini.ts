import { z } from 'zod'
import { type OptionTable, option } from '../define.ts'
import { flag, names } from '../schemas.ts'

const textByName = z.record(z.string(), z.string())

export const geminiOptions = {
  'gemini.safety_settings': option(textByName, {
    default: {
      default: 'OFF',
      HARM_CATEGORY_HARASSMENT: 'BLOCK_NONE',
      HARM_CATEGORY_HATE_SPEECH: 'BLOCK_NONE',
      HARM_CATEGORY_SEXUALLY_EXPLICIT: 'BLOCK_NONE',
      HARM_CATEGORY_DANGEROUS_CONTENT: 'BLOCK_NONE',
    },
    visibility: 'admin',
    group: 'gemini',
    label: 'Gemini 安全设置',
    help: 'default 为默认设置，可单独设置每个分类的安全等级',
    widget: 'json',
  }),
  'gemini.version_settings': option(textByName, {
    default: { default: 'v1beta', 'gemini-1.0-pro': 'v1beta' },
    visibility: 'admin',
    group: 'gemini',
    label: 'Gemini 版本设置',
    help: 'default 为默认设置，可单独设置每个模型的版本',
    widget: 'json',
  }),
  'gemini.supported_imagine_models': option(names, {
    default: ['gemini-2.0-flash-exp-image-generation', 'gemini-2.0-flash-exp'],
    visibility: 'admin',
    group: 'gemini',
    label: '支持生成图片的模型',
    widget: 'model-names',
  }),
  'gemini.thinking_adapter_enabled': option(flag, {
    default: false,
    visibility: 'admin',
    group: 'gemini',
    label: '启用 Gemini 思考后缀适配',
    help: '适配 -thinking、-thinking-预算数字 和 -nothinking 后缀',
  }),
  'gemini.thinking_adapter_budget_tokens_percentage': option(z.number().min(0.002).max(1), {
    default: 0.6,
    visibility: 'admin',
    group: 'gemini',
    label: '思考预算占比',
    help: '思考预算与最大输出 token 数之比，0.002 到 1',
    widget: 'percentage',
  }),
  'gemini.models_supported_thinking_budget': option(names, {
    default: ['gemini-2.5-flash-preview-05-20', 'gemini-2.5-flash-preview-04-17', 'gemini-2.5-pro-preview-06-05'],
    visibility: 'admin',
    group: 'gemini',
    label: '支持思考预算的模型',
    widget: 'model-names',
  }),
} satisfies OptionTable
