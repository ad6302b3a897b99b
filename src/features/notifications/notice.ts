import { createHmac } from 'node:crypto'
import type { Language } from '#core/errors.ts'

/** Something to tell somebody. */
export type Notice = {
  /** `quota_exceed`, `channel_update_<id>_<status>`, `channel_test`; of one type, and of an order with it, nobody is notified often. */
  type: string
  title: string
  /** Each `{{value}}` stands for one of `values`, in turn. */
  content: string
  values: readonly (string | number)[]
  /** The same for a mail: paragraphs, then an address to press. */
  lines: readonly string[]
  link?: string
}

/** A notice as each reader gets it. */
export type Bilingual = Record<Language, Notice>

/** A notice that says nothing but plain text. */
export const plainNotice = (type: string, title: string, content: string): Notice => ({
  type,
  title,
  content,
  values: [],
  lines: [content],
})

type PlainText = { title: string; content: string }

/** The same in each language. */
export const plainNotices = (type: string, texts: Record<Language, PlainText>): Bilingual => ({
  zh: plainNotice(type, texts.zh.title, texts.zh.content),
  en: plainNotice(type, texts.en.title, texts.en.content),
})

/** As programs receive it. */
export const webhookBody = (notice: Notice, now: Date): string =>
  JSON.stringify({
    type: notice.type,
    title: notice.title,
    content: notice.content,
    values: notice.values,
    timestamp: Math.floor(now.getTime() / 1000),
  })

/** Proves to the receiver who sent these very bytes; both forms are known to clients. */
export const webhookHeaders = (body: string, secret: string): Record<string, string> => ({
  'content-type': 'application/json',
  ...(secret === ''
    ? {}
    : {
        authorization: `Bearer ${secret}`,
        'x-webhook-signature': createHmac('sha256', secret).update(body).digest('hex'),
      }),
})
