import { createHash, timingSafeEqual } from 'node:crypto'
import type { PayMethod } from '#core/payment/methods.ts'
import { moneyText } from '#core/payment/money.ts'
import type { TopUpOrder } from '#db/entities/top-up-order.ts'
import type { Services } from '../../deps.ts'
import { publicAddress } from '../../site/public-address.ts'
import type { Started } from './gateway.ts'
import { isRealSecret } from './placeholder.ts'

export type Parameters = Readonly<Record<string, string>>

/** What the gateway calls the ways of paying. */
export const epayType = (method: PayMethod): string => (method === 'zfb' ? 'alipay' : 'wxpay')

export const epayCurrency = 'CNY'

export const isEpayReady = ({ options }: Pick<Services, 'options'>): boolean =>
  options.get('PayAddress') !== '' && options.get('EpayId') !== '' && isRealSecret(options.get('EpayKey'))

/** Everything but the signature itself and what is empty, in byte order of the names, then the key. */
export function epaySignature(parameters: Parameters, key: string): string {
  const signed = Object.keys(parameters)
    .filter((name) => name !== 'sign' && name !== 'sign_type' && parameters[name] !== '')
    .toSorted((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)))
    .map((name) => `${name}=${parameters[name]}`)
    .join('&')
  return createHash('md5')
    .update(signed + key)
    .digest('hex')
}

export function isEpaySignature(parameters: Parameters, key: string): boolean {
  const given = Buffer.from(parameters['sign'] ?? '')
  const expected = Buffer.from(epaySignature(parameters, key))
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** The form that the payer's browser posts to the gateway. */
export function startEpay(
  services: Pick<Services, 'options' | 'environment'>,
  order: TopUpOrder,
  name: string,
): Started {
  const { options } = services
  const parameters = {
    pid: order.merchant,
    type: order.method,
    out_trade_no: order.tradeNo,
    notify_url: `${options.get('CustomCallbackAddress') || publicAddress(services)}/api/user/epay/notify`,
    return_url: `${publicAddress(services)}/app/wallet/topup-success`,
    // What is signed is not escaped: a name with more parameters in it would be signed as those.
    name: name.replaceAll('&', ' '),
    money: moneyText(order.moneyMinor, order.currency),
    device: 'pc',
  }
  const fields = { ...parameters, sign_type: 'MD5', sign: epaySignature(parameters, options.get('EpayKey')) }
  return { kind: 'form', url: `${options.get('PayAddress')}/submit.php`, fields, tradeNo: order.tradeNo }
}
