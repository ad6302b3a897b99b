import { describe, expect, it } from 'vitest'
import { DomainError, errors, isDomainError, kinds, UpstreamError, type ErrorCode } from './errors.ts'
import { englishMessages } from './errors.en.ts'
import { validateValue } from './options/codec.ts'
import { checkPrerequisites } from './options/rules.ts'
import { renderMessage } from './render-message.ts'

const codes = Object.keys(errors) as ErrorCode[]
const placeholders = (text: string) => [...new Set(text.match(/\{\w+\}/g) ?? [])].toSorted()

describe('the error catalogue', () => {
  it('gives every code a known kind and a Chinese message', () => {
    expect(codes.filter((code) => !kinds.includes(errors[code].kind))).toEqual([])
    expect(codes.filter((code) => errors[code].message.trim() === '')).toEqual([])
  })

  it('names the same parameters in both languages', () => {
    const differing = codes.filter(
      (code) => placeholders(errors[code].message).join() !== placeholders(englishMessages[code]).join(),
    )
    expect(differing).toEqual([])
  })

  it('declares each code in one area only', async () => {
    const areas = await Promise.all([
      import('./errors/general.ts').then((area) => Object.keys(area.generalErrors)),
      import('./errors/accounts.ts').then((area) => Object.keys(area.accountErrors)),
      import('./errors/business.ts').then((area) => Object.keys(area.businessErrors)),
      import('./errors/options.ts').then((area) => Object.keys(area.optionErrors)),
      import('./errors/relay.ts').then((area) => Object.keys(area.relayErrors)),
      import('./errors/relay-tasks.ts').then((area) => Object.keys(area.relayTaskErrors)),
      import('./errors/unsupported.ts').then((area) => Object.keys(area.unsupportedErrors)),
    ])
    expect(areas.flat().toSorted()).toEqual([...codes].toSorted())
  })
})

describe('a refusal of an option', () => {
  it('names it by its label in Chinese and by its key in English', () => {
    const problem = validateValue('RetryTimes', -1).problem
    expect(problem && renderMessage(problem, 'zh')).toBe('失败重试次数不能小于 0')
    expect(problem && renderMessage(problem, 'en')).toBe('RetryTimes cannot be less than 0')
    const lacking = checkPrerequisites('TurnstileCheckEnabled', (key) => key === 'TurnstileCheckEnabled')
    expect(lacking && renderMessage(lacking, 'en')).toBe(
      'Please fill in TurnstileSiteKey, TurnstileSecretKey before turning on “TurnstileCheckEnabled”',
    )
  })
})

describe('a domain error', () => {
  it('renders its parameters into the message and keeps the cause out of it', () => {
    const error = new DomainError('redemption.key_taken', { key: 'GIFT' }, { cause: new Error('duplicate key') })
    expect(error.message).toBe('兑换码「GIFT」已存在')
    expect(error.kind).toBe('conflict')
    expect((error.cause as Error).message).toBe('duplicate key')
    expect(renderMessage(error, 'en')).toBe('The redemption code “GIFT” already exists')
    expect(isDomainError(error)).toBe(true)
  })

  it('demands the parameters its message names, by type', () => {
    // @ts-expect-error The message names the group and the model.
    expect(new DomainError('relay.no_channel').message).toContain('{group}')
    // @ts-expect-error The message names no parameter.
    expect(new DomainError('relay.token_missing', { key: 'abc' }).message).toBe('缺少访问令牌')
  })

  it('does not read parameters from the prototype or render a value twice', () => {
    const error = new DomainError('channel.model_name_too_long', { model: '{constructor}' })
    expect(error.message).toBe('模型名过长: {constructor}')
    expect(renderMessage({ code: 'input.invalid', params: {} }, 'zh')).toBe('请求参数无效：{detail}')
  })

  it('names what a caller wrote without sending a megabyte of it back', () => {
    const { message } = new DomainError('channel.model_name_too_long', { model: 'm'.repeat(1_000_000) })
    expect(message).toBe(`模型名过长: ${'m'.repeat(1000)}…`)
  })

  it('carries the status and the code word of the wire format', () => {
    const error = new DomainError('relay.no_channel', { group: 'default', model: 'gpt-4o' })
    expect([error.status, error.wire, error.message]).toEqual([
      503,
      'model_not_found',
      '分组 default 中没有支持模型 gpt-4o 的渠道',
    ])
  })
})

describe('an upstream error', () => {
  it('answers with the provider status where the catalogue fixes none', () => {
    const passedOn = new UpstreamError(
      'relay.upstream_failed',
      { providerStatus: 418, retryable: false },
      { detail: 'teapot' },
    )
    expect([passedOn.status, passedOn.message, passedOn.retryable]).toEqual([418, 'teapot', false])
    const cut = new UpstreamError('relay.connection_failed', { retryable: true })
    expect([cut.status, cut.providerStatus, isDomainError(cut)]).toEqual([500, undefined, true])
  })
})
