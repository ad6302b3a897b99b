export type Schema = Readonly<Record<string, unknown>>
export type Content = Readonly<Record<string, { schema: Schema }>>
export type Answers = Record<string, { description: string; content?: Content }>

export type Parameter = {
  name: string
  in: 'path' | 'query'
  required: boolean
  schema: Schema
}

export type Operation = {
  operationId: string
  tags: string[]
  summary: string
  /** Who may call it: anyone, user, admin or root; of the relay anyone, token or session. */
  'x-role': string
  security: Record<string, string[]>[]
  parameters: Parameter[]
  requestBody?: { content: Content }
  responses: Answers
  deprecated?: boolean
}

export type ApiDocument = {
  openapi: '3.1.0'
  info: { title: string; version: string; description: string }
  tags: { name: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { securitySchemes: Record<string, Record<string, string>>; schemas: Record<string, Schema> }
}
