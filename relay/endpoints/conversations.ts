import { DomainError } from '#core/errors.ts'
import {
  addItems,
  type ConversationHead,
  createConversation,
  findConversationHead,
  findConversationItem,
  findConversationItems,
  type Item,
  removeConversation,
  removeConversationItem,
  updateConversation,
} from '#features/stored-responses/conversations.ts'
import { readConversationItems, readMetadata } from '#relay/dialects/openai-responses/conversation-items.ts'
import { openAiResponses } from '#relay/dialects/openai-responses/index.ts'
import type { Incoming, RelayServices } from '#relay/request/call.ts'
import { readBody } from '#relay/request/read-body.ts'
import { daysOf, mostBytesOf, openMemory } from '#relay/routing/local-responses.ts'
import { answerLimited, type Exchange } from '../limited-call.ts'
import { itemPage, pageAsked } from './item-page.ts'

type Json = Record<string, unknown>

type Asked = {
  services: RelayServices
  incoming: Incoming
  userId: number
  /** Of the conversation, and of the item where the path names one. */
  id: string
  item: string
  body: Json
}

type Answer = (asked: Asked) => Promise<unknown>

const depsOf = ({ services }: Asked) => ({ pool: services.database.pool, secrets: services.secrets })
const namedBy = ({ services, id, userId }: Asked) => ({ id, userId, days: daysOf(services) })

/** @throws {DomainError} relay.stored_item_unknown for what is not there, or somebody else's. */
function known<Value>(found: Value | undefined): Value {
  if (found === undefined) throw new DomainError('relay.stored_item_unknown')
  return found
}

const shown = ({ id, createdAt, metadata }: ConversationHead) => ({
  id,
  object: 'conversation',
  created_at: createdAt,
  metadata,
})

async function add(asked: Asked, items: Item[]): Promise<void> {
  if (items.length === 0) return
  const added = await addItems(depsOf(asked), { ...namedBy(asked), items, mostBytes: mostBytesOf(asked.services) })
  if (added === 'unknown') throw new DomainError('relay.stored_item_unknown')
  if (added === 'too-large') throw new DomainError('relay.body_too_large')
}

const create: Answer = async (asked) => {
  const { services, userId, body } = asked
  if (daysOf(services) === 0) throw new DomainError('relay.not_implemented')
  const items = readConversationItems(body['items'], services.ambient)
  const metadata = readMetadata(body['metadata'])
  const id = `conv_${services.ambient.newId(32)}`
  const made = await createConversation(depsOf(asked), { id, userId, metadata, mostBytes: mostBytesOf(asked.services) })
  try {
    await add({ ...asked, id }, items)
  } catch (error) {
    // Its caller never learns the id.
    await removeConversation(depsOf(asked), { ...namedBy(asked), id })
    throw error
  }
  return shown(made)
}

const retrieve: Answer = async (asked) => shown(known(await findConversationHead(depsOf(asked), namedBy(asked))))

const update: Answer = async (asked) => {
  const metadata = readMetadata(asked.body['metadata'])
  return shown(known(await updateConversation(depsOf(asked), { ...namedBy(asked), metadata })))
}

const remove: Answer = async (asked) => {
  if (!(await removeConversation(depsOf(asked), namedBy(asked)))) throw new DomainError('relay.stored_item_unknown')
  return { id: asked.id, object: 'conversation.deleted', deleted: true }
}

const list: Answer = async (asked) => {
  const { query } = asked.incoming.req
  const after = typeof query['after'] === 'string' && query['after'] !== '' ? query['after'] : undefined
  const page = { ...pageAsked(query), after }
  const { hold } = openMemory(asked.services, asked.incoming)
  const found = known(await findConversationItems(depsOf(asked), { ...namedBy(asked), page, hold }))
  return itemPage(found.items, found.hasMore)
}

const addGiven: Answer = async (asked) => {
  const items = readConversationItems(asked.body['items'], asked.services.ambient)
  known(await findConversationHead(depsOf(asked), namedBy(asked)))
  await add(asked, items)
  return itemPage(items, false)
}

const retrieveItem: Answer = async (asked) => {
  const { hold } = openMemory(asked.services, asked.incoming)
  return known(await findConversationItem(depsOf(asked), { ...namedBy(asked), item: asked.item, hold }))
}

const removeItem: Answer = async (asked) => {
  const removed = await removeConversationItem(depsOf(asked), { ...namedBy(asked), item: asked.item })
  if (!removed) throw new DomainError('relay.stored_item_unknown')
  return retrieve(asked)
}

type ConversationPath = { method: 'get' | 'post' | 'delete'; path: string; answer: Answer }

export const conversationPaths: readonly ConversationPath[] = [
  { method: 'post', path: '/v1/conversations', answer: create },
  { method: 'get', path: '/v1/conversations/:id', answer: retrieve },
  { method: 'post', path: '/v1/conversations/:id', answer: update },
  { method: 'delete', path: '/v1/conversations/:id', answer: remove },
  { method: 'get', path: '/v1/conversations/:id/items', answer: list },
  { method: 'post', path: '/v1/conversations/:id/items', answer: addGiven },
  { method: 'get', path: '/v1/conversations/:id/items/:item', answer: retrieveItem },
  { method: 'delete', path: '/v1/conversations/:id/items/:item', answer: removeItem },
]

/** A call about a conversation that its caller keeps here; neither charged nor logged. Another's is unknown. */
export async function answerConversation(
  services: RelayServices,
  { method, answer }: ConversationPath,
  exchange: Exchange,
): Promise<void> {
  const { req, res } = exchange
  await answerLimited(services, exchange, {
    dialect: openAiResponses,
    isFree: true,
    answer: async ({ caller, incoming }) => {
      const body = method === 'post' ? (await readBody(services, incoming)).json : {}
      const { id = '', item = '' } = req.params as { id?: string; item?: string }
      res.json(await answer({ services, incoming, userId: caller.user.id, id, item, body }))
    },
  })
}
