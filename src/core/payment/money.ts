import { exactShare } from './exact.ts'

/** Currencies without a smaller unit, and those of a thousand, as Stripe counts them. */
const withoutFraction = new Set('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' '))
/** Stripe counts these in hundredths, and takes whole units alone. */
const integersInHundredths = new Set(['ISK', 'UGX'])
const ofThousand = new Set('BHD JOD KWD OMR TND'.split(' '))

export const fractionDigits = (currency: string): number =>
  withoutFraction.has(currency) ? 0 : ofThousand.has(currency) ? 3 : 2

/** Amounts of eight digits are taken in every currency and by every method of payment, of these longer ones. */
const digitsTaken: Record<string, number> = { IDR: 12, COP: 10, INR: 9 }

/** In the smallest unit: what gateways take at most in one payment. */
export const largestMoney = (currency: string): number => 10 ** (digitsTaken[currency] ?? 8) - 1

type Asked = {
  quota: number
  quotaPerUnit: number
  /** Of a dollar, in the currency. */
  price: number
  /** Of the payer's group. */
  ratio: number
  currency: string
}

/** What is asked for a credit, in the smallest unit of the currency. */
export function moneyFor({ quota, quotaPerUnit, price, ratio, currency }: Asked): number {
  const smallest = integersInHundredths.has(currency) ? 100 : 1
  const perUnit = 10 ** fractionDigits(currency) / smallest
  return smallest * exactShare([quota, price, ratio, perUnit], quotaPerUnit, 'half-up')
}

/** What such money buys, in whole units; it never comes to nothing. */
export const quotaFor = ({
  moneyMinor,
  quotaPerUnit,
  price,
  ratio,
  currency,
}: Omit<Asked, 'quota'> & { moneyMinor: number }): number =>
  Math.max(1, exactShare([moneyMinor, quotaPerUnit], [price, ratio, 10 ** fractionDigits(currency)], 'down'))

/** `73.00`: how gateways and people write it. */
export function moneyText(minor: number, currency: string): string {
  const digits = fractionDigits(currency)
  const text = String(minor).padStart(digits + 1, '0')
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`
}

/** `73.00 CNY` */
export const moneyWithCurrency = (minor: number, currency: string): string =>
  `${moneyText(minor, currency)} ${currency}`

/** What a gateway wrote, in the smallest unit; null for what is no such amount. */
export function readMoney(text: string, currency: string): number | null {
  const digits = fractionDigits(currency)
  const [, integer, fraction = ''] = /^(\d{1,12})(?:\.(\d{1,12}))?$/.exec(text.trim()) ?? []
  const written = integersInHundredths.has(currency) ? fraction : fraction.slice(digits)
  if (integer === undefined || /[1-9]/.test(written)) return null
  return Number(integer + fraction.slice(0, digits).padEnd(digits, '0'))
}
