import { DomainError } from '#core/errors.ts'
import { User } from '#db/entities/user.ts'
import { postNotice } from '../../notifications/deliver.ts'
import { plainNotice } from '../../notifications/notice.ts'
import type { UserDeps } from '../../deps.ts'
import type { TestWebhook } from '../schema.ts'
import { webhookSecret } from './account.ts'

const words = {
  zh: { title: '测试通知', content: '这是一条测试通知，说明 Webhook 可以收到本站的消息。' },
  en: { title: 'Test notice', content: 'This is a test notice: the webhook receives messages of this site.' },
}

/** Posts a notice as a real one would be, signed alike, and says what came of it. @throws {DomainError} webhook.failed */
export async function testWebhook(deps: UserDeps, input: TestWebhook): Promise<void> {
  const { language } = await deps.em.findOneOrFail(User, { id: deps.actor.id }, { disableIdentityMap: true })
  const { title, content } = language === 'en' ? words.en : words.zh
  const encrypted = await webhookSecret(deps, input)
  const secret = encrypted === undefined ? '' : deps.secrets.decrypt(encrypted)
  try {
    await postNotice(deps, { url: input.webhookUrl, secret }, plainNotice('test', title, content))
  } catch (cause) {
    throw new DomainError('webhook.failed', { reason: reasonOf(cause) }, { cause })
  }
}

/** What the receiver answered, or nothing that would tell of networks it cannot see. */
const reasonOf = (cause: unknown): string =>
  cause instanceof Error && cause.message.startsWith('HTTP ') ? cause.message : 'no answer'
