import { createContext, useCallback, useContext, useEffect, useMemo, useRef, useState } from 'react'
import type { FieldErrors, UseFormReturn } from 'react-hook-form'
import { useForm, useWatch } from 'react-hook-form'
import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { trpc } from '../../lib/trpc.ts'
import type { RouterOutputs } from '#server/app-router.ts'
import {
  changedFields,
  beganWith,
  changeOf,
  fields,
  formValuesOf,
  keyOf,
  nameOf,
  problemIn,
  type FieldValue,
  type FormValues,
} from './values.ts'
import { labelOf, problemText } from './words.ts'

export type OptionView = RouterOutputs['admin']['options']['list'][number]

export type Settings = {
  form: UseFormReturn<FormValues>
  /** As they are on the server. */
  stored: FormValues
  /** Secrets that have a value. */
  setSecrets: ReadonlySet<string>
  /** After a save: what is stored now, and what had been sent. */
  begin: (saved: Saved) => void
  /** Puts everything back to what is stored by then. */
  putBack: () => void
}

type Saved = { keys: readonly string[]; sent: FormValues; fresh: FormValues }

const SettingsContext = createContext<Settings | undefined>(undefined)
export const SettingsProvider = SettingsContext.Provider

export function useSettings(): Settings {
  const settings = useContext(SettingsContext)
  if (!settings) throw new Error('no settings around')
  return settings
}

/** Only what was changed is validated: an option that is stored as it is does not hold up the others. */
function validate(values: FormValues, stored: FormValues): FieldErrors<FormValues> {
  const wrong = changedFields(values, stored).flatMap(({ key }) => {
    const problem = problemIn(key, values[nameOf(key)])
    return problem ? [[nameOf(key), { type: 'value', message: problemText(problem) }] as const] : []
  })
  return Object.fromEntries(wrong)
}

/** Null is a value: that of a number left blank. */
const valueIn = (values: FormValues, key: string): FieldValue => values[nameOf(key)] as FieldValue

/** All options as one form, whose unsaved changes outlive a change of tab. */
export function useSettingsForm(options: readonly OptionView[]): Settings {
  const loaded = useMemo(() => formValuesOf(options), [options])
  const [stored, setStored] = useState(loaded)
  const current = useRef(stored)
  const form = useForm<FormValues>({
    defaultValues: stored,
    mode: 'onTouched',
    resolver: (values) => {
      const errors = validate(values, current.current)
      return Object.keys(errors).length > 0 ? { values: {}, errors } : { values, errors: {} }
    },
  })
  useEffect(() => {
    if (current.current === loaded) return
    const [typed, before] = [form.getValues(), current.current]
    const changed = new Set(changedFields(typed, before).map(({ key }) => key))
    const wanted = new Set(changedFields(typed, loaded).map(({ key }) => key))
    const moved = changedFields(loaded, before).filter(({ key }) => changed.has(key) && wanted.has(key))
    current.current = loaded
    for (const { key } of fields) {
      if (changed.has(key)) continue
      form.setValue(nameOf(key), valueIn(loaded, key))
      form.clearErrors(nameOf(key))
    }
    setStored(loaded)
    // Somebody else saved another value while this one was typed, which a save would overwrite unseen.
    for (const { key } of moved) {
      const message = problemText({ code: 'option.changed_meanwhile', params: { key, label: labelOf(key) } })
      form.setError(nameOf(key), { type: 'server', message })
    }
  }, [loaded, form])
  const begin = useCallback(
    ({ keys, sent, fresh }: Saved) => {
      const now = form.getValues()
      // What was typed while the save was under way stays, as a change of what was saved.
      const isAsSent = (key: string) => JSON.stringify(valueIn(now, key)) === JSON.stringify(valueIn(sent, key))
      for (const key of keys.filter(isAsSent)) form.setValue(nameOf(key), valueIn(fresh, key))
      const saved = Object.fromEntries(keys.map((key) => [nameOf(key), valueIn(fresh, key)]))
      current.current = { ...current.current, ...saved }
    },
    [form],
  )
  const putBack = useCallback(() => {
    form.clearErrors()
    for (const { key } of fields) form.setValue(nameOf(key), valueIn(current.current, key))
  }, [form])
  const setSecrets = useMemo(() => new Set(options.filter(({ isSet }) => isSet).map(({ key }) => key)), [options])
  return useMemo(() => ({ form, stored, setSecrets, begin, putBack }), [form, stored, setSecrets, begin, putBack])
}

export function useChanges() {
  const { form, stored } = useSettings()
  const values = useWatch({ control: form.control }) as FormValues
  return useMemo(() => changedFields(values, stored), [values, stored])
}

/** Saves what was changed; what is refused stays as typed, with its reason beside it. */
export function useSave() {
  const { form, stored, begin } = useSettings()
  const utils = trpc.useUtils()
  const mutation = trpc.admin.options.save.useMutation()
  const save = async () => {
    const values = form.getValues()
    const changed = changedFields(values, stored)
    if (changed.length === 0) return notify.warning(t('你似乎并没有修改什么'))
    if (!(await form.trigger(changed.map(({ key }) => nameOf(key))))) return notify.error(t('请检查输入'))
    try {
      const { saved, failed, cleared } = await mutation.mutateAsync({
        changes: changed.map((field) => ({ ...changeOf(field, values), ...beganWith(field, stored) })),
      })
      const fresh = formValuesOf(await utils.admin.options.list.fetch(undefined, { staleTime: 0 }))
      begin({ keys: saved, sent: values, fresh })
      for (const problem of failed) {
        form.setError(nameOf(problem.key), { type: 'server', message: problemText(problem) })
      }
      if (cleared.length > 0) {
        notify.warning(t('地址已更改，请重新填写{secrets}', { secrets: cleared.map(labelOf).join('、') }))
      }
      if (failed.length === 0) notify.success(t('保存成功'))
      else notify.error(saved.length > 0 ? t('部分保存失败，请重试') : t('保存失败，请重试'))
      void utils.invalidate()
    } catch (error) {
      notify.error(error, t('保存失败，请重试'))
    }
  }
  return { save, isSaving: mutation.isPending }
}

export const refusedKeys = (errors: FieldErrors<FormValues>) => Object.keys(errors).map(keyOf)
