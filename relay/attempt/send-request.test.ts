import { expect, test } from 'vitest'
import { TransportError } from '#relay/transport/transport-error.ts'
import { sendRequest } from './send-request.ts'

type Sender = Parameters<typeof sendRequest>[0]

const request = { method: 'GET' as const, url: 'http://127.0.0.1/', headers: {}, body: undefined }

/** An attempt whose requests end so, one after the other. */
const senderOf = (...replies: (() => Promise<unknown>)[]): Sender =>
  ({
    services: { transport: { send: () => replies.shift()?.() } },
    call: { id: 'r', upstreamAbort: new AbortController() },
    attempt: { channel: { type: 1, baseUrl: 'http://127.0.0.1', setting: {} }, key: { position: 0, value: 'k' } },
    asked: false,
    answered: false,
  }) as unknown as Sender

const unreached = () => Promise.reject(new TransportError('connect'))
const answered = () => Promise.resolve({ status: 200 })

test('an attempt whose request reaches nobody was not asked, unless an earlier one did', async () => {
  const lost = senderOf(unreached)
  await expect(sendRequest(lost, request, 'unstreamed')).rejects.toThrow(TransportError)
  expect(lost.asked).toBe(false)

  const sender = senderOf(answered, unreached)
  await sendRequest(sender, request, 'unstreamed')
  await expect(sendRequest(sender, request, 'unstreamed')).rejects.toThrow(TransportError)
  expect([sender.asked, sender.answered]).toEqual([true, true])
})
