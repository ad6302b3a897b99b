import type { z } from 'zod'
import { t } from '../i18n/t.ts'

type Issue = z.core.$ZodRawIssue

const isEmpty = (input: unknown): boolean =>
  input === undefined || input === null || input === '' || (typeof input === 'number' && Number.isNaN(input))

const tooSmall = (issue: Issue & { code: 'too_small' }): string => {
  const minimum = Number(issue.minimum)
  if (isEmpty(issue.input)) return t('请填写此项')
  if (issue.origin === 'string') return t('至少 {minimum} 个字符', { minimum })
  if (issue.origin === 'array') return t('至少选择 {minimum} 项', { minimum })
  return issue.inclusive === false ? t('必须大于 {minimum}', { minimum }) : t('不能小于 {minimum}', { minimum })
}

const tooBig = (issue: Issue & { code: 'too_big' }): string => {
  const maximum = Number(issue.maximum)
  if (issue.origin === 'string') return t('最多 {maximum} 个字符', { maximum })
  if (issue.origin === 'array') return t('最多选择 {maximum} 项', { maximum })
  return issue.inclusive === false ? t('必须小于 {maximum}', { maximum }) : t('不能大于 {maximum}', { maximum })
}

const wrongType = (issue: Issue & { code: 'invalid_type' }): string => {
  if (issue.expected === 'number') return t('请输入数字')
  if (isEmpty(issue.input)) return t('请填写此项')
  return issue.expected === 'int' ? t('请输入整数') : t('格式不正确')
}

const wrongFormat = (format: string): string => {
  if (format === 'email') return t('邮箱格式不正确')
  if (format === 'url') return t('地址格式不正确')
  return t('格式不正确')
}

/** What is wrong with a field, in the reader's language and without the schema's own words. */
export function issueText(issue: Issue): string | undefined {
  if (issue.code === 'too_small') return tooSmall(issue as Issue & { code: 'too_small' })
  if (issue.code === 'too_big') return tooBig(issue as Issue & { code: 'too_big' })
  if (issue.code === 'invalid_type') return wrongType(issue as Issue & { code: 'invalid_type' })
  if (issue.code === 'invalid_format') return wrongFormat(String(issue['format']))
  if (issue.code === 'invalid_value' || issue.code === 'invalid_union') return t('请选择一个有效的选项')
  if (issue.code === 'not_multiple_of') return t('格式不正确')
  return undefined
}
