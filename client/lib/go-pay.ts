type Started = { kind: 'form'; url: string; fields: Record<string, string> } | { kind: 'redirect'; url: string }

/** Leaves for the gateway, with the signed fields where it wants a form. */
export function goPay(started: Started): void {
  if (started.kind === 'redirect') return location.assign(started.url)
  const form = document.createElement('form')
  form.method = 'post'
  form.action = started.url
  for (const [name, value] of Object.entries(started.fields)) {
    const input = document.createElement('input')
    input.type = 'hidden'
    input.name = name
    input.value = value
    form.append(input)
  }
  document.body.append(form)
  form.submit()
}
