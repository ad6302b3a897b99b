import { asObjects, Refusal, type Json } from '../prompt.ts'
import type { Call, Operation, Reply, StreamEvent } from '../types.ts'

/** `/openai/deployments/{name}/{operation}`, where the query must name the version. */
export const deploymentPattern = /^\/openai\/deployments\/([^/]+)\/(.+)$/
/** `/openai/v1/{operation}`, where the body names the deployment. */
export const undatedPattern = /^\/openai\/v1\/(.+)$/

const filters = {
  hate: { filtered: false, severity: 'safe' },
  violence: { filtered: false, severity: 'safe' },
}

/** The path names the deployment; a version is wanted beside it. */
function ofDeployment(call: Call): Call {
  const deployment = deploymentPattern.exec(call.path)?.[1]
  if (deployment === undefined) return call
  const version = call.query.get('api-version') ?? ''
  if (!/^\d{4}-\d\d-\d\d(-preview)?$/.test(version))
    throw new Refusal({ status: 404, message: 'Resource not found', code: '404' })
  return { ...call, body: { ...call.body, model: decodeURIComponent(deployment) } }
}

const withFilters = (body: Json): Json => ({
  ...body,
  choices: asObjects(body['choices']).map((choice) => ({ ...choice, content_filter_results: filters })),
})

/** The first chunk reports on the prompt and has no choices; every other one says what was filtered. */
function filteredEvents([first, ...rest]: StreamEvent[]): StreamEvent[] {
  if (!first) return []
  const opening = {
    id: '',
    object: '',
    created: 0,
    model: '',
    choices: [],
    prompt_filter_results: [{ prompt_index: 0, content_filter_results: filters }],
  }
  const others = [first, ...rest].map((event) =>
    event.data === '[DONE]' ? event : { ...event, data: JSON.stringify(withFilters(JSON.parse(event.data) as Json)) },
  )
  return [{ data: JSON.stringify(opening) }, ...others]
}

function filtered(reply: Reply): Reply {
  if (reply.type === 'stream') return { ...reply, events: filteredEvents(reply.events) }
  return reply.type === 'json' ? { ...reply, body: withFilters(reply.body as Json) } : reply
}

/** An operation of OpenAI's behind a deployment. */
export function deployed(operation: Operation, isChat: boolean): Operation {
  if (operation.type === 'plain') return { ...operation, reply: (call) => operation.reply(ofDeployment(call)) }
  return {
    type: 'chat',
    read: (call) => operation.read(ofDeployment(call)),
    write: (prompt, answer, call) => {
      const reply = operation.write(prompt, answer, ofDeployment(call))
      return isChat ? filtered(reply) : reply
    },
  }
}
