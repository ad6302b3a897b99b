import type { Problem } from '#core/errors.ts'

export const defaultEmailDomains = [
  'gmail.com',
  '163.com',
  '126.com',
  'qq.com',
  'outlook.com',
  'hotmail.com',
  'icloud.com',
  'yahoo.com',
  'foxmail.com',
]

const domainPattern = /^(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+[\p{L}\p{N}-]{2,63}$/u

export function checkDomains(domains: string[]): Problem | undefined {
  const seen = new Set<string>()
  for (const domain of domains) {
    if (!domainPattern.test(domain)) return { code: 'option.domain_invalid', params: { domain } }
    if (seen.has(domain.toLowerCase())) return { code: 'option.domain_duplicate', params: { domain } }
    seen.add(domain.toLowerCase())
  }
  return undefined
}
