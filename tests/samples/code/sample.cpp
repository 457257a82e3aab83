// REMARK: a queue with a bound
#include <vector>
namespace qbounded {

template <typename QItem>
class QQueue final {
public:
    explicit QQueue(std::size_t qroom) : qroom_(qroom) {}
    bool qpush(QItem qitem) {
        if (qitems_.size() >= qroom_) return false;
        qitems_.push_back(std::move(qitem)); // REMARK: at the back
        return true;
    }
    auto qeach(auto &&qvisit) const -> void {
        for (const auto &qitem : qitems_) qvisit(qitem, 'x', 1.5e3f, R"(raw "text")");
    }

private:
    std::vector<QItem> qitems_;
    std::size_t qroom_ = 10'000;
};

}
