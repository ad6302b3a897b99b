import { DomainError, toDomainError } from '#core/errors.ts'
import { decodeText, encodeValue } from '#core/options/codec.ts'
import { checkModelMapping, type ModelMapping, trimModelMapping } from '#core/options/model-mapping.ts'
import { findOptionRow } from './rows.ts'
import type { UpdateModelMapping } from './schema.ts'
import { type OptionsDeps, replaceOption, updateOption } from './service.ts'

export const getModelMapping = (deps: OptionsDeps): { mapping: ModelMapping } =>
  deps.options.get('global_model_mapping')

/** Replaces the whole mapping. @throws {DomainError} mapping.changed_meanwhile */
export async function updateModelMapping(
  deps: OptionsDeps,
  input: UpdateModelMapping,
): Promise<{ mapping: ModelMapping }> {
  const problem = checkModelMapping(input.mapping)
  if (problem) throw toDomainError(problem)
  const value = { mapping: trimModelMapping(input.mapping) }
  const change = { key: 'global_model_mapping', value: encodeValue('global_model_mapping', value) }
  if (!input.expected) await updateOption(deps, change)
  else {
    const expected = encodeValue('global_model_mapping', { mapping: trimModelMapping(input.expected) })
    if (!(await replaceOption(deps, { ...change, expected }))) throw new DomainError('mapping.changed_meanwhile')
  }
  return value
}

/**
 * Reads the stored mapping again and refuses one that cannot be read, instead of standing at the default in silence.
 * @throws {DomainError} mapping.unreadable
 */
export async function reloadModelMapping(deps: OptionsDeps): Promise<void> {
  const row = await findOptionRow(deps.em, 'global_model_mapping')
  if (row && decodeText('global_model_mapping', row.value).problem) throw new DomainError('mapping.unreadable')
  await deps.options.reload()
}
