import { Stack } from '@chakra-ui/react'
import { useState } from 'react'
import { useFormContext, useFormState, useWatch } from 'react-hook-form'
import type { OptionField as Field } from '#core/options/describe.ts'
import { Notice } from '../../../components/notice.tsx'
import { t } from '../../../i18n/t.ts'
import { fieldMessage } from '../../../lib/field-message.ts'
import { OptionField } from '../option-field.tsx'
import { useChanges } from '../settings-form.ts'
import { TwoWays } from '../table-or-json.tsx'
import { fields, nameOf, type FormValues } from '../values.ts'
import { labelOf } from '../words.ts'
import { groupKeys, readTables, type GroupTables } from './rows.ts'
import { RenameGroup } from './rename-group.tsx'
import { GroupTable } from './table.tsx'

const isGroupKey = (key: string): boolean => groupKeys.some((one) => one === key)

/** Groups, which three options describe, as one table; the other options about groups below. */
export function GroupsEditor({ fields: own }: { fields: readonly Field[] }) {
  const form = useFormContext<FormValues>()
  const texts = useWatch({ control: form.control, name: groupKeys.map(nameOf) })
  const tables = readTables({ GroupRatio: texts[0], UserUsableGroups: texts[1], TopupGroupRatio: texts[2] })
  const isChanged = useChanges().length > 0
  const [renamed, setRenamed] = useState<string>()
  const change = (next: GroupTables) => {
    for (const key of groupKeys) {
      if (JSON.stringify(next[key]) === JSON.stringify(tables?.[key])) continue
      form.clearErrors(nameOf(key))
      form.setValue(nameOf(key), JSON.stringify(next[key], null, 2))
    }
  }
  return (
    <>
      <TwoWays
        param="groups"
        label={t('分组的编辑方式')}
        table={
          tables && (
            <div id="option-GroupRatio">
              <div id="option-UserUsableGroups">
                <GroupTable tables={tables} onChange={change} onRename={isChanged ? undefined : setRenamed} />
                <Refusals />
              </div>
            </div>
          )
        }
        text={
          <Stack gap="5">
            {fields
              .filter(({ key }) => isGroupKey(key))
              .map((field) => (
                <OptionField key={field.key} field={field} />
              ))}
          </Stack>
        }
      />
      <RenameGroup from={renamed} onClose={() => setRenamed(undefined)} />
      {own
        .filter(({ key }) => !isGroupKey(key))
        .map((field) => (
          <OptionField key={field.key} field={field} />
        ))}
    </>
  )
}

/** Why one of the options behind the table was not saved. */
function Refusals() {
  const { errors } = useFormState<FormValues>({ name: groupKeys.map(nameOf) })
  const refused = groupKeys.flatMap((key) => {
    const message = errors[nameOf(key)]?.message
    return typeof message === 'string' ? [{ key, message }] : []
  })
  return refused.map(({ key, message }) => (
    <Notice key={key} tone="bad" title={labelOf(key)}>
      {fieldMessage(message)}
    </Notice>
  ))
}
