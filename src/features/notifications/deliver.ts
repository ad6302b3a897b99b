import { askWorker } from '#relay/transport/worker-fetch.ts'
import { endsWithin } from '#relay/upstream-call/timeouts.ts'
import type { UserSetting } from '#db/entities/user.ts'
import type { Services } from '#features/deps.ts'
import { sendMail } from '#features/mail/service.ts'
import type { Language } from '#core/errors.ts'
import { type Notice, webhookBody, webhookHeaders, type Bilingual } from './notice.ts'

export type DeliverDeps = Pick<Services, 'options' | 'secrets' | 'ambient' | 'transport' | 'guardedFetch'>

/** Whom a notice goes to, and how. */
export type Addressee = { email: string; language: Language | ''; setting?: UserSetting | null | undefined }

const timeoutMs = 15_000
const largestAnswer = 1_048_576

/** False when the addressee has no address to be notified at, or nothing here sends mails. @throws when the notice could not be handed over. */
export async function deliver(deps: DeliverDeps, to: Addressee, written: Bilingual): Promise<boolean> {
  const notice = written[to.language === 'en' ? 'en' : 'zh']
  if (to.setting?.notify_type === 'webhook') return postWebhook(deps, to.setting, notice)
  const address = to.setting?.notification_email || to.email
  if (address === '' || deps.options.get('SMTPServer') === '') return false
  await sendMail(deps, {
    to: address,
    subject: notice.title,
    lines: [...notice.lines],
    ...(notice.link === undefined ? {} : { link: notice.link }),
  })
  return true
}

async function postWebhook(deps: DeliverDeps, setting: UserSetting, notice: Notice): Promise<boolean> {
  const url = setting.webhook_url ?? ''
  if (url === '') return false
  const secret = setting.webhook_secret ? deps.secrets.decrypt(setting.webhook_secret) : ''
  await postNotice(deps, { url, secret }, notice)
  return true
}

/** @throws when the receiver did not take it. */
export async function postNotice(
  deps: Pick<DeliverDeps, 'options' | 'ambient' | 'transport' | 'guardedFetch'>,
  { url, secret }: { url: string; secret: string },
  notice: Notice,
): Promise<void> {
  const body = webhookBody(notice, deps.ambient.now())
  const headers = webhookHeaders(body, secret)
  const status =
    deps.options.get('WorkerUrl') === ''
      ? await post(deps, { url, headers, body })
      : await postByWorker(deps, { url, headers, body })
  if (status < 200 || status > 299) throw new Error(`HTTP ${status}`)
}

type Posting = { url: string; headers: Record<string, string>; body: string }

/** Ordinary people choose the address, so it goes through the guard. */
async function post({ guardedFetch }: Pick<DeliverDeps, 'guardedFetch'>, posting: Posting): Promise<number> {
  const { url, ...request } = posting
  return (await guardedFetch(url, { ...request, method: 'POST', timeoutMs, maxBytes: largestAnswer })).status
}

/** Root's own program posts it from where it stands, perhaps in a private network; it takes encrypted targets only. */
async function postByWorker(
  { options, transport, guardedFetch }: Pick<DeliverDeps, 'options' | 'transport' | 'guardedFetch'>,
  { url, headers, body }: Posting,
): Promise<number> {
  if (guardedFetch.check(url).protocol !== 'https:') throw new Error('the worker takes https addresses only')
  const worker = { url: options.get('WorkerUrl'), key: options.get('WorkerValidKey') }
  const request = { url, method: 'POST', headers, body }
  const reply = await askWorker(transport, worker, { request, ...endsWithin(timeoutMs) })
  reply.cancel()
  return reply.status
}
