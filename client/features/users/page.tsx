import { Button } from '@chakra-ui/react'
import { Plus, Users } from 'lucide-react'
import { useLocation, useRoute } from 'wouter'
import { roles } from '#core/roles.ts'
import { userOrders } from '#features/users/schema.ts'
import { userPath } from '../../components/cells/user-link.tsx'
import { DataTable } from '../../components/data-table/data-table.tsx'
import { FilterBar } from '../../components/filter-bar/filter-bar.tsx'
import { Page as Frame } from '../../components/page.tsx'
import { EmptyState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { type Sort, useTableState } from '../../lib/table-state.ts'
import { keepsRows, reportedWhenFailed } from '../../lib/query.ts'
import { trpc } from '../../lib/trpc.ts'
import { useUrlState } from '../../lib/url-state.ts'
import { userColumns } from './columns.tsx'
import { CreateUser } from './create-form.tsx'
import { EditUser } from './edit-form.tsx'
import { useActs } from './use-acts.ts'
import { isGone, roleText } from './words.ts'

/** No account has so high a number. */
const noUser = 2_147_483_647

const filters = { keyword: '', group: '', status: '', role: '' }

/** The account whose form is open is in the address, as a parameter or as the path that older links use. */
function useOpened() {
  const [, parameters] = useRoute('/user/edit/:id')
  const [, navigate] = useLocation()
  const [{ edit }, set] = useUrlState({ edit: 0 }, [], ['edit'])
  // What the address says instead of an id is the id of nobody.
  const edited = parameters ? Math.trunc(Number(parameters.id)) || noUser : edit
  const open = (id: number) =>
    parameters ? navigate(`/admin/users${id === 0 ? '' : `?edit=${id}`}`, { replace: id === 0 }) : set({ edit: id })
  return { edited: edit === -1 ? 0 : edited, isNew: edit === -1, open }
}

type Values = { keyword: string; group: string; status: string; role: string }

/** What the address says and nobody knows filters nothing. */
const listInput = ({ keyword, group, status, role }: Values, sort: Sort | undefined) => ({
  keyword,
  group,
  status: statuses.find((known) => known === status) ?? ('any' as const),
  role: Object.values(roles).find((known) => String(known) === role) ?? 0,
  sort: userOrders.find((known) => known === sort?.by) ?? ('id' as const),
  order: sort?.order ?? ('desc' as const),
})

const statuses = ['active', 'banned', 'deleted'] as const

const statusChoices = () => [
  { value: 'active', label: t('已激活') },
  { value: 'banned', label: t('已封禁') },
  { value: 'deleted', label: t('已注销') },
]

const roleChoices = () =>
  [roles.user, roles.admin, roles.root].map((role) => ({ value: String(role), label: roleText(role) }))

export function Page() {
  const [values, setFilters] = useUrlState(filters, ['page'])
  const table = useTableState()
  const { page, pageSize, sort } = table
  const input = listInput(values, sort)
  const utils = trpc.useUtils()
  const users = trpc.admin.users.list.useQuery({ ...input, page, pageSize }, keepsRows)
  const groups = trpc.admin.groups.names.useQuery(undefined, reportedWhenFailed)
  const { edited, isNew, open } = useOpened()
  const [, navigate] = useLocation()
  const actsOf = useActs(({ id }) => open(id))
  const filtered = Object.values(values).some((value) => value !== '')
  return (
    <Frame
      title={t('用户管理')}
      fill
      action={
        <Button variant="solid" onClick={() => open(-1)}>
          <Plus aria-hidden />
          {t('添加用户')}
        </Button>
      }
    >
      <DataTable
        id="users"
        label={t('用户管理')}
        columns={userColumns()}
        rowId={({ id }) => id}
        rowLabel={({ username }) => username}
        query={users}
        paging={table}
        sort={sort}
        onSort={table.setSort}
        csvName="users"
        csvPage={(number, size) =>
          utils.admin.users.list.fetch({ ...input, sort: 'id', order: 'desc', page: number, pageSize: size })
        }
        isMuted={isGone}
        onOpen={({ id }) => navigate(userPath(id))}
        openRow={edited || undefined}
        rowActions={actsOf}
        toolbar={
          <FilterBar
            query={{ id: 'keyword', placeholder: t('搜索 ID、用户名或邮箱') }}
            facets={[
              {
                id: 'group',
                label: t('分组'),
                kind: 'choice',
                choices: (groups.data ?? []).map((name) => ({ value: name, label: name })),
              },
              { id: 'status', label: t('状态'), kind: 'choice', fixed: true, choices: statusChoices() },
              { id: 'role', label: t('角色'), kind: 'choice', fixed: true, choices: roleChoices() },
            ]}
            values={values}
            onChange={setFilters}
          />
        }
        empty={
          <EmptyState
            icon={Users}
            title={filtered ? t('没有匹配的用户') : t('还没有用户')}
            action={filtered && <Button onClick={() => setFilters(filters)}>{t('清除筛选')}</Button>}
          />
        }
      />
      <CreateUser open={isNew} onClose={() => open(0)} />
      <EditUser id={edited} onClose={() => open(0)} />
    </Frame>
  )
}
