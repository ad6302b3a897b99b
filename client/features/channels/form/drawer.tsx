import { Button } from '@chakra-ui/react'
import { SearchX } from 'lucide-react'
import { useEffect, useMemo, useState } from 'react'
import { EmptyState, ErrorState } from '../../../components/states.tsx'
import { FormDrawer } from '../../../components/form-drawer.tsx'
import { confirm } from '../../../components/confirm.tsx'
import { notify } from '../../../components/notify.ts'
import { t } from '../../../i18n/t.ts'
import { errorText, refusalCode } from '../../../lib/errors.ts'
import { useZodForm } from '../../../lib/form.ts'
import { useSession } from '../../../lib/session.ts'
import { trpc } from '../../../lib/trpc.ts'
import { useChannelActions } from '../use-channel-actions.ts'
import { ChannelFields } from './fields.tsx'
import type { ChannelValues } from './values.ts'
import {
  changesOf,
  channelForm,
  cleanAddress,
  emptyValues,
  endsWithVersion,
  fieldOfRefusal,
  replacedBy,
  valuesOf,
} from './values.ts'

type ChannelDrawerProps = {
  /** `new`, an id, or nothing. */
  form: string
  onClose: () => void
  onSaved: (saved: { id: number; unpriced: string[] }) => void
}

/** Creates a channel, or changes one; which of the two the address says. */
export function ChannelDrawer({ form: opened, onClose, onSaved }: ChannelDrawerProps) {
  const id = opened === 'new' || opened === '' ? undefined : idOf(opened)
  // While the drawer leaves the screen it keeps showing what it showed.
  const [formState, setFormState] = useState({ id, turn: 0 })
  useEffect(() => {
    if (opened !== '') setFormState(({ turn }) => ({ id, turn: turn + 1 }))
  }, [opened, id])
  return (
    <Editor
      key={formState.turn}
      open={opened !== '' && formState.turn > 0 && formState.id === id}
      id={formState.id}
      onClose={onClose}
      onSaved={onSaved}
    />
  )
}

/** An address may say anything: what is no id is that of no channel. */
const idOf = (text: string): number => (/^\d{1,9}$/.test(text) ? Number(text) : 0)

type EditorProps = {
  open: boolean
  id: number | undefined
  onClose: () => void
  onSaved: ChannelDrawerProps['onSaved']
}

function Editor({ open, id, onClose, onSaved }: EditorProps) {
  // A key is not kept in memory longer than the form that shows it, and the form begins with what holds now.
  const detail = trpc.admin.channels.get.useQuery(
    { id: id ?? 0 },
    { enabled: open && id !== undefined && id > 0, gcTime: 0, staleTime: Infinity },
  )
  // A refresh while the form is open does not move what its changes are compared with: that is what the form began with.
  const [stored, setStored] = useState<ChannelValues>()
  const { isRoot } = useSession()
  const schema = useMemo(() => channelForm({ stored, movesKeys: isRoot }), [stored, isRoot])
  const form = useZodForm({ schema, values: emptyValues() })
  const { reset, setFocus } = form
  const [isFilled, setFilled] = useState(id === undefined)
  useEffect(() => {
    if (!detail.data || isFilled) return
    const values = valuesOf(detail.data)
    setStored(values)
    reset(values)
    setFilled(true)
  }, [detail.data, isFilled, reset])
  useEffect(() => {
    if (open && isFilled && id !== undefined) setFocus('name')
  }, [open, isFilled, id, setFocus])
  const save = useSave({ id, stored, onSaved })
  const isMissing = id === 0 || refusalCode(detail.error) === 'channel.not_found'
  const isUnread = detail.isError && !isFilled

  const submit = async (values: ChannelValues) => {
    try {
      await save(values)
    } catch (error) {
      const field = fieldOfRefusal[(refusalCode(error) ?? '') as keyof typeof fieldOfRefusal]
      if (field) form.setError(field, { type: 'server', message: errorText(error) }, { shouldFocus: true })
      throw error
    }
  }

  return (
    <FormDrawer
      open={open}
      onClose={onClose}
      title={id === undefined ? t('添加渠道') : t('编辑渠道')}
      description={id === undefined ? undefined : detail.data && `#${id} ${detail.data.name}`}
      form={form}
      onSubmit={submit}
      loading={!isFilled && !isMissing && !isUnread}
      unavailable={isMissing || isUnread}
      submitLabel={id === undefined ? t('创建') : t('保存')}
    >
      {isMissing ? (
        <NoSuchChannel onClose={onClose} />
      ) : isUnread ? (
        <ErrorState error={detail.error} onRetry={() => void detail.refetch()} />
      ) : (
        isFilled && <ChannelFields id={id} stored={stored} />
      )}
    </FormDrawer>
  )
}

function NoSuchChannel({ onClose }: { onClose: () => void }) {
  return (
    <EmptyState
      icon={SearchX}
      title={t('渠道不存在')}
      description={t('它可能已被删除，或地址有误。')}
      action={<Button onClick={onClose}>{t('返回渠道列表')}</Button>}
    />
  )
}

type SaveOf = Pick<EditorProps, 'id' | 'onSaved'> & { stored: ChannelValues | undefined }

function useSave({ id, stored, onSaved }: SaveOf) {
  const create = trpc.admin.channels.create.useMutation()
  const update = trpc.admin.channels.update.useMutation()
  const { refresh } = useChannelActions()
  return async (given: ChannelValues) => {
    const values = { ...given, baseUrl: cleanAddress(given.baseUrl) }
    if (!(await isAddressMeant(values, stored))) throw new Error(t('请修改接口地址'))
    const saved =
      id === undefined || !stored
        ? await create.mutateAsync(values)
        : await update.mutateAsync({ ...changesOf(values, stored), expected: replacedBy(values, stored), id })
    notify.success(id === undefined ? t('渠道创建成功！') : t('渠道更新成功！'))
    void refresh()
    onSaved(saved)
  }
}

const isAddressMeant = async (values: ChannelValues, stored: ChannelValues | undefined): Promise<boolean> =>
  !endsWithVersion(values.baseUrl) ||
  values.baseUrl === stored?.baseUrl ||
  confirm({
    title: t('接口地址以 /v1 结尾，仍要保存？'),
    body: t('调用时会自动加上 /v1，重复之后通常会得到 404。只有上游确实需要时才保留。'),
    confirmLabel: t('仍然保存'),
    cancelLabel: t('返回修改'),
  })
