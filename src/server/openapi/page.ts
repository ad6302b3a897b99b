import { createHash } from 'node:crypto'
import type { ApiDocument, Content, Operation, Schema } from './types.ts'

const style = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 0 auto; padding: 1rem }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #8886 }
h3 { margin: 1.5rem 0 .25rem; font-size: 1rem; overflow-wrap: anywhere }
p, dl { margin: .25rem 0 } dt { font-weight: 600 } dd { margin: 0 0 .5rem; overflow-wrap: anywhere }
pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: .5rem; background: #8882; border-radius: .25rem; font-size: .85rem; margin: .25rem 0 }
nav a { display: inline-block; margin-right: .75rem }
`

const hash = createHash('sha256').update(style).digest('base64')
/** The page runs nothing and loads nothing. */
const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'`

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`)

const idOf = (tag: string): string => tag.replaceAll(/\W+/g, '-')

/** The document to read, with everything open so that the browser's own search finds it. */
export function renderPage(document: ApiDocument): { html: string; policy: string } {
  const { title, description } = document.info
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const sections = document.tags.map(({ name }) => {
    const own = operations.filter(({ operation }) => operation.tags[0] === name)
    return `<section id="${idOf(name)}"><h2>${escaped(name)}</h2>${own.map(describe).join('')}</section>`
  })
  const links = document.tags.map(({ name }) => `<a href="#${idOf(name)}">${escaped(name)}</a>`)
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title><style>${style}</style></head>
<body><h1>${escaped(title)}</h1><p>${escaped(description)}</p>
<p><a href="/api/openapi.json">OpenAPI 3.1</a></p><nav>${links.join(' ')}</nav>
${sections.join('\n')}</body></html>`
  return { html, policy }
}

function describe({ path, method, operation }: { path: string; method: string; operation: Operation }): string {
  const parameters = operation.parameters.map(
    ({ name, in: from, required, schema }) =>
      `<code>${escaped(name)}</code> (${from}${required ? ', required' : ''}) ${schemaText(schema)}`,
  )
  const answers = Object.entries(operation.responses).map(
    ([status, { description, content }]) =>
      `<code>${status}</code> ${escaped(description)}${Number(status) < 300 ? contentText(content) : ''}`,
  )
  const rows = [
    ['角色 · Role', escaped(operation['x-role'])],
    ['参数 · Parameters', parameters.join('<br>')],
    ['请求体 · Body', contentText(operation.requestBody?.content)],
    ['响应 · Answers', answers.join('<br>')],
  ].filter(([, text]) => text !== '')
  const list = rows.map(([term, text]) => `<dt>${term}</dt><dd>${text}</dd>`).join('')
  return `<article id="${operation.operationId}"><h3><code>${method.toUpperCase()} ${escaped(path)}</code></h3>
<p>${escaped(operation.summary)}</p><dl>${list}</dl></article>`
}

const schemaText = (schema: Schema): string => escaped(outline(schema, ''))

const contentText = (content: Content | undefined): string =>
  Object.entries(content ?? {})
    .map(([type, { schema }]) => ` <code>${escaped(type)}</code><pre>${schemaText(schema)}</pre>`)
    .join('')

/** A schema in a few words, a line for each field. */
function outline(schema: Schema, indent: string): string {
  const { type, properties, items, anyOf, required, additionalProperties, $schema: _, $ref, ...rest } = schema
  if (typeof $ref === 'string') return $ref.split('/').at(-1) ?? ''
  if (Array.isArray(anyOf)) return anyOf.map((choice: Schema) => outline(choice, indent)).join(`\n${indent}or `)
  if (type === 'array') return `list of ${outline((items ?? {}) as Schema, indent)}`
  const bounds = Object.entries(rest).map(([name, value]) =>
    name === 'description' ? String(value) : `${name} ${JSON.stringify(value)}`,
  )
  const head = [typeof type === 'string' ? type : bounds.length > 0 ? '' : 'any', ...bounds].filter(Boolean).join(', ')
  const fields = Object.entries((properties ?? {}) as Record<string, Schema>).map(([name, field]) => {
    const mark = Array.isArray(required) && required.includes(name) ? ' (required)' : ''
    return `\n${indent}  ${name}${mark}: ${outline(field, `${indent}  `)}`
  })
  return `${head}${additionalProperties ? ' with fields of any name' : ''}${fields.join('')}`
}
