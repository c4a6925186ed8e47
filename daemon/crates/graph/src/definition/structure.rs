//! Checks how the nodes of a flow hang together, and finds the branch that each is a part of. Pure.
//!
//! A branch is all that can be reached from its first node without passing the join. Branches are apart: they share no node, nothing
//! leads into one but its parallel node, and each leads to the join and to no end. So a branch is at one node at a time, and a join runs
//! when each branch has come to it once.

use std::collections::BTreeSet;

use super::problem::{Problems, Spot};
use crate::flow::{BranchPlace, Flow, NodeId, NodeKind};

/// Reports all faults; without one, [`Node::place`](crate::flow::Node::place) is set for all nodes.
pub(super) fn check(flow: &mut Flow, spots: &[Spot], problems: &mut Problems) {
    let reached = reachable(flow, flow.start, None);
    for (id, node) in flow.ids() {
        // A part of a subgraph that is not reached is reported with it.
        if !reached.contains(&id) {
            let message = format!("nothing leads to the node `{}`", node.name);
            problems.add(&spots[id.0], message, "let a node lead to it, or remove it");
        }
    }
    if !reached.iter().any(|id| matches!(flow.node(*id).kind, NodeKind::End(_))) {
        let hint = "add a node of the kind `end` and let a node lead to it";
        problems.add(&spots[flow.start.0], "the flow has no end that can be reached", hint);
    }
    let mut places = vec![None; flow.nodes.len()];
    let mut sizes = vec![usize::MAX; flow.nodes.len()];
    for (id, node) in flow.ids() {
        let (NodeKind::Parallel { branches }, Some(join)) = (&node.kind, node.next) else { continue };
        let regions: Vec<BTreeSet<NodeId>> =
            branches.iter().map(|branch| reachable(flow, *branch, Some(join))).collect();
        for (branch, region) in regions.iter().enumerate() {
            let first = branches[branch];
            check_branch(flow, id, (first, join), region, spots, problems);
            check_apart(flow, id, (branch, &regions), spots, problems);
            // The innermost branch is the smallest one.
            for node in region {
                if region.len() < sizes[node.0] {
                    sizes[node.0] = region.len();
                    places[node.0] = Some(BranchPlace { parallel: id, branch });
                }
            }
        }
    }
    for (node, place) in flow.nodes.iter_mut().zip(places) {
        node.place = place;
    }
}

/// All nodes that can be reached from `from`, which is one of them, without passing `stop`. Behind a parallel node are its branches and,
/// since these lead there, its join.
fn reachable(flow: &Flow, from: NodeId, stop: Option<NodeId>) -> BTreeSet<NodeId> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(id) = open.pop() {
        if Some(id) != stop && reached.insert(id) {
            open.extend(flow.successors(id));
        }
    }
    reached
}

fn check_branch(
    flow: &Flow,
    parallel: NodeId,
    (first, join): (NodeId, NodeId),
    region: &BTreeSet<NodeId>,
    spots: &[Spot],
    problems: &mut Problems,
) {
    let name = |id: NodeId| flow.node(id).name.as_str();
    if first == join {
        let message = format!("the branch `{}` is the join itself", name(first));
        problems.add(&spots[parallel.0], message, "give the branch a node that does something");
        return;
    }
    if region.contains(&parallel) {
        let message = format!("the branch `{}` leads back to `{}`", name(first), name(parallel));
        problems.add(&spots[first.0], message, format!("let it lead to the join `{}`", name(join)));
        return;
    }
    for id in region {
        match &flow.node(*id).kind {
            NodeKind::End(_) => {
                let message = format!("the branch `{}` leads to the end `{}`", name(first), name(*id));
                problems.add(&spots[id.0], message, format!("let it lead to the join `{}`", name(join)));
            }
            NodeKind::Leave { enter, .. } if !region.contains(enter) => {
                let message = format!("the branch `{}` leads out of its subgraph at `{}`", name(first), name(*id));
                problems.add(&spots[id.0], message, format!("let it lead to the join `{}`", name(join)));
            }
            _ => {}
        }
    }
    if !region.iter().any(|id| flow.successors(*id).contains(&join)) {
        let message = format!("the branch `{}` does not lead to the join `{}`", name(first), name(join));
        problems.add(&spots[first.0], message, "let its last node lead there");
    }
}

fn check_apart(
    flow: &Flow,
    parallel: NodeId,
    (branch, regions): (usize, &[BTreeSet<NodeId>]),
    spots: &[Spot],
    problems: &mut Problems,
) {
    let region = &regions[branch];
    for other in &regions[..branch] {
        if let Some(shared) = region.intersection(other).next() {
            let message =
                format!("two branches of `{}` share the node `{}`", flow.node(parallel).name, flow.node(*shared).name);
            problems.add(&spots[shared.0], message, "give each branch a node of its own, or put it behind the join");
            return;
        }
    }
    for (id, node) in flow.ids().filter(|(id, _)| !region.contains(id) && *id != parallel) {
        if let Some(inside) = flow.successors(id).into_iter().find(|next| region.contains(next)) {
            let message = format!("`{}` leads into a branch of `{}`", node.name, flow.node(parallel).name);
            let hint = format!("let it lead to `{}` instead of `{}`", flow.node(parallel).name, flow.node(inside).name);
            problems.add(&spots[id.0], message, hint);
        }
    }
    if region.contains(&flow.start) {
        let message = format!("the flow starts in a branch of `{}`", flow.node(parallel).name);
        problems.add(&spots[flow.start.0], message, format!("start at `{}`", flow.node(parallel).name));
    }
}
