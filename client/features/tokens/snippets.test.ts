import { expect, test } from 'vitest'
import { clients, snippetsFor } from './snippets.ts'

const access = { base: 'https://gateway.example', key: 'sk-0123456789', model: 'gpt-4o-mini' }

test.each(clients.filter((client) => snippetsFor(client, access).length > 0))(
  'the settings for %s name the address, the key and the model, and no path twice',
  (client) => {
    const code = snippetsFor(client, access)
      .map((snippet) => snippet.code)
      .join('\n')
    expect(code).toContain(access.base)
    expect(code).toContain(access.key)
    expect(code).toContain(access.model)
    expect(code).not.toMatch(/\/v1\/v1|example\/\//)
  },
)

test('the body of the curl call is JSON whatever the model is called', () => {
  const [shell] = snippetsFor('curl', { ...access, model: `team "blue"/bob's` })
  const body = /-d '(.*)'$/s.exec(shell?.code ?? '')?.[1] ?? ''
  expect(JSON.parse(body.replaceAll("'\\''", "'"))).toMatchObject({ model: `team "blue"/bob's` })
})

test('programs that are set up in a window have nothing to paste', () => {
  expect(snippetsFor('cursor', access)).toEqual([])
  expect(snippetsFor('cherry-studio', access)).toEqual([])
})
